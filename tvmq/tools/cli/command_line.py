"""The command line of a function: arguments and options from its parameters, their help from its docstring.

A parameter before `*` is an argument, one after it the option `--name`. Its help is its line in the docstring, in
columns of name and text, or that of arguments.py. A parameter of a dataclass type
stands for an option per field that has such a line.

Tests: tests/tools/cli/test_options.py
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo, ParameterInfo

_ENTRY = re.compile(r"(\w+)  +(\S.*)")


def help_text(docstring: str) -> str:
    """The docstring without the lines that explain parameters.

    >>> help_text("Run a model.\\n\\nmodel  The file.")
    'Run a model.'
    """
    return re.split(r"\n\n(?=\w+  +\S)", docstring)[0]


def read_help(docstring: str) -> dict[str, str]:
    """Help {parameter: text} from the columns of a docstring; further lines of an entry are indented.

    >>> read_help("Run a model.\\n\\nmodel  The file\\n       to run.\\ndata   Inputs.")
    {'model': 'The file to run.', 'data': 'Inputs.'}
    """
    entries: dict[str, str] = {}
    for line in docstring.splitlines():
        if entry := _ENTRY.fullmatch(line):
            entries[entry[1]] = entry[2]
        elif entries and line.startswith(" "):
            entries[next(reversed(entries))] += " " + line.strip()
    return entries


def with_command_line(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command as a function that typer reads: a keyword parameter for each argument and option."""
    signature = inspect.signature(command, eval_str=True)
    texts = _help_of(command)
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for one in signature.parameters.values():
        if is_dataclass(one.annotation):
            groups[one.name] = one.annotation
            parameters += _field_parameters(one.annotation)
        else:
            make = typer.Option if one.kind is one.KEYWORD_ONLY else typer.Argument
            parameters.append(_parameter(one.name, one.annotation, one.default, make, texts.get(one.name)))

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        values = {name: value.value if isinstance(value, Enum) else value for name, value in values.items()}
        grouped = {name: _take_fields(group, values) for name, group in groups.items()}
        return command(**values, **grouped)

    del run.__wrapped__  # it would lead typer to the signature of the command
    run.__doc__ = help_text(inspect.getdoc(command) or "")
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _help_of(owner: Any) -> dict[str, str]:
    from tvmq.tools.cli import arguments  # imports NumPy

    return read_help(arguments.__doc__ or "") | read_help(inspect.getdoc(owner) or "")


def _field_parameters(group: Any) -> Iterator[inspect.Parameter]:
    kinds = get_type_hints(group, include_extras=True)
    texts = _help_of(group)
    for field in fields(group):
        if field.name in texts:
            text, panel = texts[field.name], getattr(group, "PANEL", None)
            yield _parameter(field.name, kinds[field.name], field.default, typer.Option, text, panel)


def _take_fields(group: Any, values: dict[str, Any]) -> Any:
    return group(**{field.name: values.pop(field.name) for field in fields(group) if field.name in values})


def _parameter(
    name: str, annotation: Any, default: Any, make: Callable[..., Any], text: str | None, panel: str | None = None
) -> inspect.Parameter:
    """Parameter with the typer option or argument of its annotation, completed by flags, help, panel and choices."""
    kind, *others = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    choices = next((one for one in others if isinstance(one, type) and issubclass(one, Enum)), None)
    info = copy(next((one for one in others if isinstance(one, ParameterInfo)), make()))
    flag = "--" + name.replace("_", "-")
    # a first flag given without a name is `default`, as typer reads it
    if isinstance(info, OptionInfo) and not info.param_decls and info.default is ...:
        info.param_decls = (f"{flag}/--no-{flag[2:]}" if default is True else flag,)
    info.help = info.help or text
    info.rich_help_panel = info.rich_help_panel or panel
    annotation = Annotated[choices | None if choices else kind, info]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
