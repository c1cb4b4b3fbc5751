"""Tocsin watches very large sets of web pages for the changes that their authors declare."""

__version__ = "0.1.0"
