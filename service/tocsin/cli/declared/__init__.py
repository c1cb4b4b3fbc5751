"""`tocsin plan` and `tocsin apply`: the list of pages as a file of the user's own."""
