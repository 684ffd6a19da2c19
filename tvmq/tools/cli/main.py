"""The `tvmq` command as a whole. TVM is imported by the command that runs, not by --help."""

from __future__ import annotations

from typing import Annotated

import typer

import tvmq
from tvmq.tools.cli.commands import HELP, Commands
from tvmq.tools.cli.trust import set_trust

# In full in exit_codes.py: shell scripts may rely on them.
EXIT_CODES = """
Exit codes: 0 done · 1 an error, in one sentence on stderr, or `verify` and `doctor` found something wrong ·
2 the command line is wrong · 3 the model stays below the guard's bound and is not saved ·
4 the model is saved, but samples, labels or their preparation are doubtful ·
130 interrupted by Ctrl-C (143: by SIGTERM), no partly written files left.

`tvmq NAME --help` shows the usual options of a command, `tvmq NAME --help-all` all of them.

Results go to stdout, progress and notices to stderr. --json: one object on stdout; NO_COLOR: no colours.
"""

app = typer.Typer(
    name="tvmq",
    cls=Commands,
    no_args_is_help=True,
    context_settings=HELP,
    epilog=EXIT_CODES,
    # --install-completion and --show-completion, for bash, zsh and fish
    add_completion=True,
    # errors of tvmq are sentences; any other is a bug, which needs its plain traceback
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"tvmq {tvmq.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Read files that can run code of their author: torch programs (.pt2), and options in JSON that name "
            '"module:object".',
        ),
    ] = False,
) -> None:
    """Trained float model in, fast and exact int8 executable out. Begin with: tvmq demo"""
    set_trust(trust)


def main() -> None:
    """Entry point of the console script."""
    app()
