"""`tocsin watch`: the list of pages, a file a subcommand."""
