"""Requests over the network: one GET at a time, within deadlines and caps, to addresses that are judged as dialled."""
