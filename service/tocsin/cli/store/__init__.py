"""`tocsin store`: care of the store, and its backups."""
