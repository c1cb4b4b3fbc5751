"""What people are told, in their language: one wording for web pages, terminal, feeds, log and messages."""
