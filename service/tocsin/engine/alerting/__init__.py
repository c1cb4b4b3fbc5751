"""What is told: alerts to their channels, storms, questions, outages."""
