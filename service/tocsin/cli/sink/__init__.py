"""`tocsin sink`: who is told, and what they refused."""
