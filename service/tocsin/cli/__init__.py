"""The command line: one file per command, and one place for what they print."""
