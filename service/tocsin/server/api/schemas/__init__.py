"""What the API takes and gives, as it stands in its description."""
