"""Fetcher processes: dealing pages to them, and what they do."""
