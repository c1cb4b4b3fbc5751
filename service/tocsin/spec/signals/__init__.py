"""What a page says of its changes beside the twelve fields: one file a signal, registered in `SIGNALS`."""
