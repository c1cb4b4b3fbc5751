"""The command line: a file per command, a folder where a command has two ideas.

Shared by commands: session (configuration, store, clock), files (reading and writing), selection (pages), arguments
(what users type), formatting, output and progress (what they see).
"""
