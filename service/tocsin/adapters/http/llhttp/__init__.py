"""HTTP connections for pages on llhttp: a protocol for each connection, a future for each request."""
