"""`tocsin check`: checking pages once, and how the results are told."""
