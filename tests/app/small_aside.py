"""A process aside that has little memory."""

from __future__ import annotations

from tocsin.app.aside import main

if __name__ == "__main__":
    main(most_bytes=96 * 2**20)
