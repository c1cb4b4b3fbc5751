"""Awareness: the bounded render queue, receiving pages whole, and what follows."""
