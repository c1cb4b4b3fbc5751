"""What a page links to, and as what."""
