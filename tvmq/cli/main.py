"""The `tvmq` command: puts the commands together. TVM is imported by the command that runs, not by --help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

import tvmq
from tvmq.cli.bench import bench
from tvmq.cli.build import build
from tvmq.cli.compare import compare
from tvmq.cli.demo import demo
from tvmq.cli.doctor import doctor
from tvmq.cli.explain import explain
from tvmq.cli.guard import guarded
from tvmq.cli.inspect import inspect
from tvmq.cli.quantize import quantize
from tvmq.cli.report import report
from tvmq.cli.run import run
from tvmq.cli.search import search
from tvmq.cli.tune import tune
from tvmq.cli.verify import verify

COMMANDS: dict[str, Callable[..., Any]] = {
    "demo": demo,
    "inspect": inspect,
    "quantize": quantize,
    "build": build,
    "run": run,
    "verify": verify,
    "explain": explain,
    "compare": compare,
    "report": report,
    "bench": bench,
    "tune": tune,
    "search": search,
    "doctor": doctor,
}

# Said in full by guard.py; what a shell script may rely on.
EXIT_CODES = """
Exit codes: 0 done · 1 an error, in one sentence on stderr, or `verify` and `doctor` found something wrong ·
2 the command line is wrong · 130 interrupted by Ctrl-C, nothing half-written left.

Results go to stdout, progress and notices to stderr. --json: one object on stdout; NO_COLOR: no colours.
"""

app = typer.Typer(
    name="tvmq",
    no_args_is_help=True,
    epilog=EXIT_CODES,
    # --install-completion and --show-completion, for bash, zsh and fish
    add_completion=True,
    # our own errors are sentences; what remains is a bug of tvmq and deserves a plain traceback
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
) -> None:
    """Trained float model in, fast and exact int8 executable out. Begin with: tvmq demo"""


for _name, _command in COMMANDS.items():
    app.command(_name)(guarded(_command))


def main() -> None:
    """Entry point of the console script."""
    app()
