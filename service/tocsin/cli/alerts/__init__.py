"""`tocsin alerts`: what was told, and to whom; changes that many pages had in common."""
