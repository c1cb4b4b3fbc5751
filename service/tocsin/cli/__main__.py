"""The program: its options, its commands, and what it leaves with."""

from __future__ import annotations

import errno
import gc
import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from tocsin import __version__
from tocsin.cli import output
from tocsin.errors import TocsinError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Command(NamedTuple):
    """A command as the help shows it; its module is imported only when it is called.

    module     holds the click command
    attribute  its name there; a module may hold two commands that do the same up to their last step
    """

    section: str
    name: str
    module: str
    help: str
    attribute: str = "command"


WATCH, HEAR, WRITE, CARE = SECTIONS = ("Watch pages", "Follow changes", "Write pages", "Operate the installation")

# In the order of the help, within each section.
COMMANDS: tuple[Command, ...] = (
    Command(
        WATCH, "watch", "tocsin.cli.watch.command", "the list of pages: add, remove, list, set, import, export, clear"
    ),
    Command(WATCH, "plan", "tocsin.cli.plan", "show what a list of pages in TOML or YAML would change"),
    Command(WATCH, "apply", "tocsin.cli.plan", "change the list of pages to match such a file", "apply"),
    Command(WATCH, "check", "tocsin.cli.check", "check pages once, now"),
    Command(WATCH, "run", "tocsin.cli.run", "the service: check pages when due, deliver alerts, serve web pages"),
    Command(WATCH, "demo", "tocsin.cli.demo", "see the service work on a small demo site"),
    Command(HEAR, "history", "tocsin.cli.history", "a page's stored states and the changes found"),
    Command(HEAR, "signals", "tocsin.cli.signals", "what a page says about its changes, and which signals are muted"),
    Command(HEAR, "diff", "tocsin.cli.diff", "the difference between two texts of a page, or two files"),
    Command(HEAR, "attention", "tocsin.cli.attention", "questions about unreachable pages, and your answers"),
    Command(HEAR, "alerts", "tocsin.cli.alerts", "alerts and their deliveries: list, show, replay"),
    Command(HEAR, "channel", "tocsin.cli.channel", "where alerts go: list, test, make a secret"),
    Command(HEAR, "route", "tocsin.cli.route", "which alerts go where, and when: list, test"),
    Command(HEAR, "silence", "tocsin.cli.silence", "alerts that are not sent for a time: add, list, end"),
    Command(
        CARE, "doctor", "tocsin.cli.doctor.command", "find what is wrong with this installation, and how to fix it"
    ),
    Command(CARE, "browser", "tocsin.cli.browser", "a browser for the service of another container"),
    Command(CARE, "token", "tocsin.cli.token", "access tokens for HTTP: add, list, revoke"),
    Command(CARE, "healthcheck", "tocsin.cli.healthcheck", "ask whether the service is ready, for containers"),
    Command(CARE, "store", "tocsin.cli.store", "migrate, back up, restore, copy, check or prune the store"),
    Command(CARE, "nodes", "tocsin.cli.nodes", "the processes that work on one store: list, drain"),
    Command(CARE, "table", "tocsin.cli.table", "the spec's plain-text table of states"),
    Command(CARE, "completion", "tocsin.cli.completion", "shell completion for commands and options"),
    Command(WRITE, "state", "tocsin.cli.state", "show a page's state: fields and dates"),
    Command(WRITE, "compare", "tocsin.cli.compare.command", "judge the change between two versions of a page"),
    Command(WRITE, "lint", "tocsin.cli.lint", "list the rules that a page breaks, with line and column"),
    Command(WRITE, "extract", "tocsin.cli.extract", "a page's metadata, links, events and contacts"),
    Command(WRITE, "stamp", "tocsin.cli.stamp", "write the date of a change into a page"),
)


_INPUT, _OUTPUT, _ERROR = 0, 1, 2
# Reading the first and writing the second then fails as in other programs; text for the third is dropped.
_STANDS_IN: Final = {_INPUT: os.O_WRONLY, _OUTPUT: os.O_RDONLY, _ERROR: os.O_WRONLY}


def stand_in_for_closed() -> None:
    """Put something in the place of each standard stream that is closed, so that no other file takes its number.

    Python has None for such a stream, and a store opened as number 2 would receive the warnings of any library.
    Reading from the replacement, and writing to it, raises OSError with EBADF; on standard error nothing is raised.
    """
    for number, mode in _STANDS_IN.items():
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is this one. Processes that we start are to have it, too.
            os.set_inheritable(os.open(os.devnull, mode), True)  # noqa: FBT003 - the signature of os
    if sys.stdin is None:
        sys.stdin = open(_INPUT, encoding="utf-8", closefd=False)  # noqa: SIM115 - open as long as we run
    if sys.stdout is None:
        sys.stdout = open(_OUTPUT, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - the same
    if sys.stderr is None:
        sys.stderr = open(  # noqa: SIM115 - the same
            _ERROR, "w", encoding="utf-8", errors="backslashreplace", closefd=False
        )


INTERRUPTED = 130
_GC_WHILE_LOADING = 20_000
# What to do where standard output takes no more.
_MENDS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "free some space, and run the command again"),
    errno.EBADF: "standard output is closed; redirect it, for example to /dev/null",
}

_OPTIONS = "Before the command: --config FILE, --store URL, -v (log more), --version, -h"


@dataclass(frozen=True, slots=True)
class Call:
    """The options before the command; commands find them as `ctx.obj`.

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
                found: click.Command = getattr(importlib.import_module(command.module), command.attribute)
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
    # What is loaded stays: looking for garbage meanwhile takes a tenth of the start. `execute` sets it for the work.
    gc.set_threshold(_GC_WHILE_LOADING)
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
        # The reader at the other end of the pipe has closed it.
        _print_no_more()
        status = output.DONE
    except OSError as exc:
        mend = _MENDS.get(exc.errno or 0)
        if mend is None:
            raise
        output.note(f"tocsin: standard output cannot be written ({exc.strerror}); {mend}")
        _print_no_more()
        status = output.NEEDS_USER
    return status if isinstance(status, int) else output.DONE


def _call(arguments: Sequence[str] | None) -> object:
    """Run the command and return its result; raises the OSError of output that failed within its tasks."""
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
    """Discard the rest of standard output: Python would fail again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    main()
