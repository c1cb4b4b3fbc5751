"""The engine: ports called in order around pure functions; it knows no driver."""
