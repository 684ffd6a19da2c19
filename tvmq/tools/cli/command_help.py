"""Help of a command: options in groups, names beside whole words, at the width of the terminal.

Of a command with many options --help shows those of COMMON, which most people need; --help-all shows the others too.

Tests: tests/tools/cli/test_command_help.py
"""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

from tvmq.tools.cli.option_messages import say_plainly

EVERYTHING = "--help-all"
NARROWEST, WIDEST = 40, 100
COLUMN = 26  # where texts begin
DATA, RESULT, OUTPUT, PRECISION = "Model and data", "Result", "Output", "Precision"
_OUTPUT = ("output", "target", "force", "as_json", "quiet")
# Command -> group -> its parameters, in order
COMMON: dict[str, dict[str, tuple[str, ...]]] = {
    "quantize": {
        DATA: ("data", "samples", "labels", "normalize", "shape"),
        PRECISION: ("guard", "metric", "max_drop", "rule", "made_for"),
        OUTPUT: _OUTPUT,
    },
    "finetune": {
        DATA: ("data", "labels", "normalize", "shape"),
        "Training": ("minutes", "steps", "nbit_weight", "nbit_input", "rule"),
        OUTPUT: _OUTPUT,
    },
    "search": {
        DATA: ("data", "labels", "samples"),
        "Goal": ("metric", "max_drop", "sqnr", "minimize"),
        "Search": ("options", "workers", "rounds", "seconds"),
        OUTPUT: ("output", "target", "resume", "as_json", "quiet"),
    },
    "doctor": {
        DATA: ("data", "labels", "samples", "shape"), "Checks": ("budget", "rule"), OUTPUT: ("as_json", "quiet"),
    },
    "report": {
        DATA: ("data", "labels", "normalize", "shape"),
        RESULT: ("quantized_model", "search", "guard", "rule", "threads"),
        OUTPUT: ("output", "as_json", "quiet"),
    },
    "export-c": {
        DATA: ("data", "samples", "normalize", "shape"), OUTPUT: ("output", "name", "rule", "as_json", "quiet"),
    },
}  # fmt: skip


# Types and choices as typer writes them: "<list[str]>", "<int range>", "[a|b]", "<a|b>"
_TYPE, _CHOICES = re.compile(r"<([\w\[\] ]+)>"), re.compile(r"[<\[](\S*\|[^\]>]*)[\]>]")
KINDS = {
    **dict.fromkeys(("str", "list[str]"), "TEXT"), **dict.fromkeys(("path", "list[path]"), "PATH"),
    **dict.fromkeys(("int", "int range", "list[int]"), "N"), **dict.fromkeys(("float", "float range"), "NUMBER"),
}  # fmt: skip


class HelpfulCommand(TyperCommand):
    """A command with this help; a positional argument too many is answered with the option that it may be meant for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words; --help-all prints all options."""
        if EVERYTHING in args:
            typer.echo("\n".join(help_lines(self, ctx, everything=True)).rstrip("\n"))
            ctx.exit()
        words = list(args)  # parsing takes them away
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # UsageError, whose module depends on the version of typer
            message = getattr(error, "message", "")
            if (plain := say_plainly(message, getattr(getattr(error, "param", None), "opts", ()), words)) != message:
                error.message = plain  # type: ignore[attr-defined]
            if "unexpected extra argument" in message and any(param.name == "data" for param in self.params):
                model = next((word for word in words if not word.startswith("-")), "MODEL")
                extra = message.rpartition("(")[2].partition(")")[0].partition(" ")[0]
                error.message = f"{message}. Samples follow --data: tvmq {self.name} {model} --data {extra}"  # type: ignore[attr-defined]
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write("\n".join(help_lines(self, ctx)))


def help_lines(command: Any, ctx: Any, *, everything: bool = False) -> list[str]:
    """Lines of the help.

    everything  all options, of commands whose help shows some alone
    """
    width = max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))
    groups = _groups(command, ctx, everything=everything)
    usage = re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), command.get_usage(ctx).partition(": ")[2])
    lines = ["", *_wrap(f"Usage: {usage}", width), ""]
    lines += _paragraphs(command.help or "", width)
    for title, params in groups.items():
        records = [record for param in params if (record := param.get_help_record(ctx)) is not None]
        if records:
            lines += [f"{title}:", *(line for record in records for line in _record_lines(record, width)), ""]
    hidden = _count_options(command, ctx) - sum(map(len, groups.values()))
    if hidden > 0:
        lines += [f"{EVERYTHING} shows {hidden} more options.", ""]
    return lines


def _groups(command: Any, ctx: Any, *, everything: bool) -> dict[str, list[Any]]:
    """{title: parameters}; of an argument without a help text there is nothing to show."""
    params = {param.name: param for param in command.get_params(ctx) if not getattr(param, "hidden", False)}
    arguments = [param for param in params.values() if param.param_type_name == "argument"]
    groups: dict[str, list[Any]] = {"Arguments": arguments}
    shown = {} if everything else COMMON.get(command.name or "", {})
    for title, names in shown.items():
        groups[title] = [params[name] for name in names if name in params]
    if not shown:
        for param in params.values():
            if param not in arguments:
                groups.setdefault(getattr(param, "rich_help_panel", None) or "Options", []).append(param)
    return {title: listed for title, listed in groups.items() if listed}


def _count_options(command: Any, ctx: Any) -> int:
    """Arguments and options, without --help itself."""
    own = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    return len(own) - any(param.name == "help" for param in own)


def _paragraphs(text: str, width: int) -> list[str]:
    """The text, each paragraph wrapped, and an empty line behind it; examples stand as they are."""
    lines = []
    for paragraph in inspect.cleandoc(text).replace("\b", "").split("\n\n"):
        is_example = paragraph.strip().startswith("Example")
        parts = paragraph.split("\n") if is_example else _wrap(" ".join(paragraph.split()), width)
        lines += [*parts, ""]
    return lines


def _record_lines(record: Sequence[str], width: int) -> Iterator[str]:
    """Lines of an option: its name in the first column, beside or above its text."""
    name, text = record[0], " ".join(record[1].split())
    choices = _CHOICES.search(name)
    if choices:  # they are words of the text
        text = f"{text} One of {', '.join(choices[1].split('|'))}."
    name = _TYPE.sub(lambda kind: KINDS.get(kind[1], "VALUE"), _CHOICES.sub("CHOICE", name))
    texts = _wrap(text, width - COLUMN) or [""]
    if len(name) > COLUMN - 4:
        yield f"  {name}"
    else:
        yield f"  {name:<{COLUMN - 2}}{texts.pop(0)}".rstrip()
    for line in texts:
        yield f"{'':<{COLUMN}}{line}"


def _wrap(text: str, width: int) -> list[str]:
    """Lines of whole words."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
