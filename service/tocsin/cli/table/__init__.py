"""`tocsin table`: the spec's plain-text table, out of the store and into it."""
