"""The HTTP edge: API, web pages, streams, metrics and who is let in; only whoever serves imports it."""
