"""Pages that stand in for the requested one: challenges, logins, gates, and errors with status 200."""
