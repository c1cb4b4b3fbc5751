"""How one text differs from another: what people are shown of a change."""
