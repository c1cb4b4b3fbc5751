"""How the items of two readings of a page differ."""
