"""Links of a page: their types, metadata, icons, copies and dates."""
