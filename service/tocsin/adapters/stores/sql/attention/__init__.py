"""Questions about pages that cannot be received, their answers, and storms."""
