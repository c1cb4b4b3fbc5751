"""The outside world: each file implements one port, and translates foreign errors at the edge."""
