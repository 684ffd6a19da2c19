"""The commands: each module is imported when its command runs; the list of commands reads docstrings only."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from tvmq.base.by_name import load_object
from tvmq.tools.cli.command_line import help_text, with_command_line

NAMES = (
    "demo", "inspect", "quantize", "finetune", "build", "run", "verify", "explain", "compare", "report", "export-c",
    "export-library", "backend", "conformance", "export-onnx", "export-torch", "bench", "serve", "tune", "search",
    "doctor", "replay",
)  # fmt: skip
HELP = {"help_option_names": ["--help", "-h"]}
# tools/replay.py is another thing: it compares compilers
FILES = {"replay": "check_receipt"}
COMMANDS = {name: f"tvmq.tools.cli.{FILES.get(name, name)}:{name}".replace("-", "_") for name in NAMES}


class Commands(TyperGroup):
    """Group of all commands, loaded on demand."""

    _lists = False  # True while the list of commands is written

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        names: Any = dict.fromkeys(COMMANDS)
        self.commands = names  # suggestions for a misspelt name

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands, in order."""
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve a command; `tvmq help NAME` is `tvmq NAME --help`."""
        if args[0] != "help":
            return super().resolve_command(ctx, args)
        if not args[1:]:
            typer.echo(ctx.get_help())
            ctx.exit()
        return super().resolve_command(ctx, [args[1], "--help"])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load a command; for the list of commands only its name and help text."""
        if cmd_name not in COMMANDS:
            return None
        return TyperCommand(cmd_name, help=help_of(cmd_name)) if self._lists else load_command(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the list of all commands without importing any."""
        self._lists = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._lists = False


def load_command(name: str) -> Any:
    """Load a command with its options."""
    from tvmq.tools.cli.command_help import HelpfulCommand
    from tvmq.tools.cli.exit_codes import with_exit_codes  # imports NumPy

    alone: Any = typer.Typer(add_completion=False, pretty_exceptions_enable=False, context_settings=HELP)
    alone.command(name, cls=HelpfulCommand)(with_exit_codes(with_command_line(load_object(COMMANDS[name]))))
    return typer.main.get_command(alone)


def help_of(name: str) -> str:
    """Help of a command: the docstring of its function without its parameters, read from the file.

    >>> help_of("run").splitlines()[0][-1]
    '.'
    """
    module, _, function = COMMANDS[name].partition(":")
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    definition = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function)
    return help_text(ast.get_docstring(definition) or "")
