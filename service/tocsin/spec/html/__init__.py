"""How HTML reads bytes: encodings, markup, URLs and the small parsers they share."""
