"""What the texts say, as pure functions: bytes and values in, values out."""
