"""What a verdict leads to: renderings, alerts and their deliveries."""
