"""`tocsin demo`: the real service beside a small site whose pages change, told line by line from the rows it writes."""
