"""What requests wait for: gates, robots.txt, our own connection, the lease and room."""
