"""What is due, and what becomes of the results of checks."""
