"""`tocsin demo`: the real service watches its own demo site; each line that is printed is a row of its store."""
