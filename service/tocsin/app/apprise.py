"""The process aside that sends messages by Apprise.

python -m tocsin.app.apprise DESCRIPTOR PARENT
"""

from __future__ import annotations

import sys

from tocsin.adapters.channels.apprise_process import carry_out
from tocsin.adapters.processes.aside import serve_jobs


def main() -> None:
    """Run with the arguments given."""
    descriptor, parent = map(int, sys.argv[1:])
    serve_jobs(descriptor, parent, carry_out)


if __name__ == "__main__":
    main()
