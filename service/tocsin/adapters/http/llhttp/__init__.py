"""The lean way of a request: one protocol for each connection, one future for each request, and llhttp between them."""
