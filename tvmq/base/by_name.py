"""Objects of other packages by "module:object": how backends, passes, operators and observers of one's own are
named, so that options stay plain data.

`__main__:name` is what the running script, or the notebook, defines itself.

Tests: tests/passes/test_extensions.py
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from tvmq.base.cpus import keep_cpu_mask
from tvmq.errors import ConfigError

NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def is_object_name(value: Any) -> bool:
    """True for a text of the form "module:object"; whether there is one is another question.

    >>> is_object_name("my_package.passes:widen"), is_object_name("widen")
    (True, False)
    """
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def load_object(target: str) -> Any:
    """The object that "module:object" names, or the module that "module" names.

    raises   ImportError or AttributeError if there is none

    >>> load_object("tvmq.version:__version__") == load_object("tvmq.version").__version__
    True
    """
    module, _, path = target.partition(":")
    with keep_cpu_mask():
        value: Any = importlib.import_module(module)
    for attribute in filter(None, path.split(".")):
        value = getattr(value, attribute)
    return value


def object_named(target: str, stage: str, what: str) -> Any:
    """The object that "module:object" names.

    stage, what   for the message
    raises        ConfigError if there is no such module, or nothing of that name in it

    >>> object_named("tvmq.version:__version__", "quantize", "version") is not None
    True
    """
    try:
        return load_object(target)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{stage}: no {what} at {target!r}: {error}") from error
