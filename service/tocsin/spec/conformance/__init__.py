"""What the draft of 2008 (text 004) defines and nothing in Tocsin calls.

Kept so that every row of docs/reading-the-web.md has code and tests: URLs as that draft parsed and resolved them, and
its small syntaxes. What Tocsin reads, fetches or compares follows today's standards, in `spec/infrastructure`.
"""
