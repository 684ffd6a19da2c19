"""Files that can run code of their author are read only after `tvmq --trust`."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tvmq
from tvmq.base.by_name import is_object_name, load_object
from tvmq.errors import ConfigError

if TYPE_CHECKING:
    from tvmq.runtime.executable import Executable

_TRUST: ContextVar[bool] = ContextVar("trust", default=False)


def set_trust(value: bool) -> None:
    """Set whether the files of this command line are trusted."""
    _TRUST.set(value)


def is_trusted() -> bool:
    """True after `tvmq --trust`."""
    return _TRUST.get()


def load_without_code(path: Path, sha256: str | None = None) -> Executable:
    """Load a model without running it; packages of operators that its options name are imported only with --trust."""
    from tvmq.tools.cli.files import refuse_float_model  # imports NumPy

    refuse_float_model(path)
    exe = tvmq.load(path, sha256=sha256, code=False)
    if is_trusted():
        for family in exe.ledger.config.get("operators", ()):
            with contextlib.suppress(ImportError, AttributeError):  # the lookup of a definition reports what is missing
                load_object(str(family))
    return exe


def refuse_code(value: Any, where: str) -> None:
    """Refuse options from a file that name code, unless files are trusted.

    raises   ConfigError with the first name, which would be imported, even from the current folder
    """
    name = None if is_trusted() else _find_object_name(value)
    if name is not None:
        raise ConfigError(
            f"{where} names code, '{name}', which would be run; allow it with `tvmq --trust ...`, or name it on the "
            "command line"
        )


def _find_object_name(value: Any) -> str | None:
    """The first "module:object" in what JSON holds.

    >>> _find_object_name({"rules": [{"weight_observer": "mine:Observer"}]}), _find_object_name({"nbit_weight": 4})
    ('mine:Observer', None)
    """
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return next(filter(None, map(_find_object_name, value)), None)
    return value if is_object_name(value) else None
