"""`tocsin channel`: who is told, and what they refused."""
