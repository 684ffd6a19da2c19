"""Reference of the command line: `tvmq COMMAND --help`, read from the commands themselves."""

from __future__ import annotations

import enum
import inspect
import re
from typing import Any

from pages import Page, toctree


def pages() -> list[Page]:
    """An overview, and a page for each command."""
    import typer.main

    from tvmq.tools.cli.main import app

    group: Any = typer.main.get_command(app)
    commands = {name: group.get_command(None, name) for name in group.list_commands(None)}
    lines = ["# Command line\n", f"{group.help}\n", "| command | what it does |", "| --- | --- |"]
    lines += [f"| [tvmq {name}](commands/{name}.md) | {_summary(command)} |" for name, command in commands.items()]
    lines += ["", "`tvmq NAME --help` prints what its page says, `tvmq --version` the version.\n"]
    lines += [toctree([f"commands/{name}" for name in commands], hidden=True)]
    each = [Page(f"reference/commands/{name}", _page(name, command)) for name, command in commands.items()]
    return [Page("reference/commands", "\n".join(lines)), *each]


def _page(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(["tvmq", name, *(p.name.upper() for p in arguments), *(["[OPTIONS]"] if options else [])])
    lines = [f"# tvmq {name}\n", "```text", usage, "```\n", _help(command.help or "")]
    panels: dict[str, list[Any]] = {}
    for param in [*arguments, *options]:
        panels.setdefault(getattr(param, "rich_help_panel", None) or "", []).append(param)
    for panel, params in panels.items():
        lines += [f"**{panel}**\n" if panel else "", "| option | meaning |", "| --- | --- |"]
        lines += [*(_row(param) for param in params), ""]
    return "\n".join(lines)


def _summary(command: Any) -> str:
    """First paragraph of the help, on one line."""
    return _text(inspect.cleandoc(command.help or "").split("\n\n")[0])


def _help(text: str) -> str:
    """The text above the options; lines of examples keep their form."""
    parts = []
    for part in inspect.cleandoc(text).replace("\b", "").split("\n\n"):
        example = re.fullmatch(r"Examples?:\s+(.*)", part.strip(), re.S)
        if example:
            shown = "\n".join(line.strip() for line in example[1].split("\n"))
            parts.append(f"For example:\n\n```text\n{shown}\n```\n")
        else:
            parts.append(_text(part) + "\n")
    return "\n".join(parts)


def _row(param: Any) -> str:
    argument = param.param_type_name == "argument"
    names = [param.name.upper()] if argument else [*param.opts, *param.secondary_opts]
    shown = "<br>".join(f"`{name}`" for name in names)
    facts = []
    choices = _choices(param)
    if choices:
        facts.append("one of " + ", ".join(f"`{choice}`" for choice in choices))
    if param.required:
        facts.append("required")
    elif param.default not in (None, False, (), []) and not callable(param.default):
        facts.append(f"default `{getattr(param.default, 'value', param.default)}`")
    text = _text(param.help or "")
    return f"| {shown} | {text}{' *(' + '; '.join(facts) + ')*' if facts else ''} |"


def _choices(param: Any) -> list[str]:
    """Choices of an option; typer keeps them as click did, or (from 0.16 on) as an enumeration."""
    annotation = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    if inspect.isclass(annotation) and issubclass(annotation, enum.Enum):
        return [str(choice.value) for choice in annotation]
    return [str(getattr(c, "value", c)) for c in getattr(getattr(param, "type", None), "choices", None) or []]


def _text(text: str) -> str:
    """Help text in Markdown: outside of code nothing is markup."""
    pieces = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(p if p[:1] == "`" else re.sub(r"([\\*_|<\[\]])", r"\\\1", p) for p in pieces)
