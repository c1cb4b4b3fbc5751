"""`tocsin compare`: two versions of a page, or many pairs of them."""
