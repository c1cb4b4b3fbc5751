"""What stands inside a page as data: its microdata items, and the formats that other programs read."""
