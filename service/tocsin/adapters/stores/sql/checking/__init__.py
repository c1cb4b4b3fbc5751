"""The work of the engine: claims, due pages and the results of checks."""
