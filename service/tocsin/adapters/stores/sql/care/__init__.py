"""What the service keeps of itself, and how old rows go."""
