"""Records: what every surface shows of a thing, each declared once.

The API answers with them, `--json` prints them, OpenAPI and docs/records.md describe them from the same structs.
"""
