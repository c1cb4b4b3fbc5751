"""Wiring: the one place that knows settings, adapters, engine and server, and puts them together."""
