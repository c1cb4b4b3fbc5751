"""`tocsin signals`: what a page says of its changes, what a check would say, and its noise."""
