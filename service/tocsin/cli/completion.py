"""`tocsin completion`: let a shell complete commands and options."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

from tocsin.cli import output

_VARIABLE: Final = "_TOCSIN_COMPLETE"


@click.command("completion", epilog='Example: eval "$(tocsin completion bash)"')
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the completion script for a shell.

    Load it in the shell's start file: ~/.bashrc, ~/.zshrc, ~/.config/fish/completions/tocsin.fish.
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"{shell}: this version of click cannot complete for it; update click")
    click.echo(found(ctx.find_root().command, {}, "tocsin", _VARIABLE).source())
    return output.DONE
