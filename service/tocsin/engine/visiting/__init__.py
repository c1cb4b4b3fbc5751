"""One page through its check."""
