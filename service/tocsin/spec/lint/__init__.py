"""The checker: what a page's author did that a text forbids, calls unwise, or gives no effect."""
