"""The microdata of a page: its items, how they change, and the formats that other programs read."""
