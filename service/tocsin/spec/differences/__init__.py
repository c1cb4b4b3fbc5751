"""How one text differs from another, as people are shown it."""
