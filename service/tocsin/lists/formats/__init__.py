"""The formats of lists: recognising and reading them, and writing."""
