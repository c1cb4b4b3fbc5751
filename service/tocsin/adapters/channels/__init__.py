"""Downstream systems that take alerts; a file each, registered by type in `registry.CHANNELS`."""
