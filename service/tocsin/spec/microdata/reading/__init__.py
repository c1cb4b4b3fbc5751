"""A page in, its items out; and items packed to be stored."""
