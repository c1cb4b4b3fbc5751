"""What other programs export: their pages taken over, and what has no counterpart here named."""
