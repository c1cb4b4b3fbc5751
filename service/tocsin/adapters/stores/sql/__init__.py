"""The roles of a store, over any SQL database that a session speaks to."""
