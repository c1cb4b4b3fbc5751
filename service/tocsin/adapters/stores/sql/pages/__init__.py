"""The watch list: pages, groups, settings, lists and requests."""
