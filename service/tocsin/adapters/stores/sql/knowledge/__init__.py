"""What is kept of the contents of pages: states, texts, items, copies and signals."""
