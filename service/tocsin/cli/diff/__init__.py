"""`tocsin diff`: a difference between texts, on a terminal or as a page."""
