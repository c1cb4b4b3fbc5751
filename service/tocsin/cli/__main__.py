"""The program: its options, its commands, and what it leaves with."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tocsin import __version__
from tocsin.cli import output
from tocsin.cli.commands import COMMANDS, SECTIONS
from tocsin.cli.streams import stand_in_for_closed
from tocsin.errors import TocsinError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
_MENDS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room, and call again"),
    errno.EBADF: "standard output is closed; let it lead somewhere, to /dev/null where nobody reads",
}
"""What to do where standard output takes no more."""

_OPTIONS = "Before the command: --config FILE, --store URL, -v (log more), --version, -h"


@dataclass(frozen=True, slots=True)
class Call:
    """What stands before the command on the command line; commands find it as `ctx.obj`.

    config   the configuration file, None to search for one
    store    the store's URL, None to take it from the configuration
    verbose  how many times -v was given
    """

    config: Path | None = None
    store: str | None = None
    verbose: int = 0


class Commands(click.Group):
    """The commands, each imported only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Name the commands in the order of the help."""
        return [command.name for section in SECTIONS for command in COMMANDS if command.section == section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import the command of this name; None if there is none."""
        for command in COMMANDS:
            if command.name == cmd_name:
                found: click.Command = importlib.import_module(command.module).command
                return found
        return None

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write help that fits one screen: the commands by section, and no blank line that could be spared."""
        self.format_usage(ctx, formatter)
        formatter.write(f"{self.help}\n")
        for section in SECTIONS:
            formatter.write(f"{section}:\n")
            for command in COMMANDS:
                if command.section == section:
                    formatter.write(f"  {command.name:<11} {command.help}\n")
        formatter.write(f"{_OPTIONS}\n")


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="The configuration file.")
@click.option("--store", metavar="URL", help="The store, such as sqlite:tocsin.db.")
@click.option("-v", "--verbose", count=True, help="Log more; twice for everything.")
@click.version_option(__version__, prog_name="tocsin", message="%(prog)s %(version)s")
@click.pass_context
def tocsin(ctx: click.Context, config: Path | None, store: str | None, verbose: int) -> None:
    """Watch web pages for the changes that their authors declare."""
    ctx.obj = Call(config, store, verbose)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and leave with its exit status: 0 done, 1 the user is needed, 2 wrong call, 3 no store."""
    stand_in_for_closed()
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit status. The one place where errors become statuses."""
    status: object
    try:
        status = _call(arguments)
    except click.exceptions.NoArgsIsHelpError as exc:
        exc.show()
        status = exc.exit_code
    except click.ClickException as exc:
        exc.show()
        status = output.WRONG_CALL
    except click.Abort:
        status = INTERRUPTED
    except TocsinError as exc:
        status = output.fail(exc)
    except (BrokenPipeError, SystemExit):  # SystemExit is what click makes of a broken pipe, and of nothing else here
        # Whoever read us has enough.
        _print_no_more()
        status = output.DONE
    except OSError as exc:
        mend = _MENDS.get(exc.errno or 0)
        if mend is None:
            raise
        output.note(f"tocsin: what was to be printed cannot be written ({exc.strerror}); {mend}")
        _print_no_more()
        status = output.NEEDS_USER
    return status if isinstance(status, int) else output.DONE


def _call(arguments: Sequence[str] | None) -> object:
    """Carry out the command, and give what it returns; output that failed within its tasks has failed here."""
    try:
        status: object = tocsin.main(args=arguments, prog_name="tocsin", standalone_mode=False)
        sys.stdout.flush()
    except BaseExceptionGroup as group:
        failed: BaseException | None
        failed, others = group.split(OSError)
        if others is not None:
            raise
        while isinstance(failed, BaseExceptionGroup):
            failed = failed.exceptions[0]
        if failed is None or failed.errno not in {errno.EPIPE, *_MENDS}:
            raise
        raise failed from group
    return status


def _print_no_more() -> None:
    """Let what is left of standard output go nowhere: Python would complain once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()
