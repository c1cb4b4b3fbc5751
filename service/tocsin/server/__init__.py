"""The HTTP server: API, web pages, streams, metrics and access control; imported only to serve."""
