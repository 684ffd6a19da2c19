"""Reasons in exceptions of other libraries, as a clause of our own sentences: one line, without their innards.

Tests: tests/base/test_memory.py
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from tvmq.base.text import printable
from tvmq.errors import ConfigError, MemoryLimitError, ModelError, TvmqError

LONGEST = 200  # characters that are quoted
# "Check failed: (a == b) is false: why", "Check failed: fb->value != 0 (0 vs. 0) : why"
_CHECK = re.compile(r"^(?:\w*Error: )?Check failed: .*?(?:\) is false|\(.*? vs\. .*?\) ?): ?")
# Code of another library: its objects, names, files, addresses, object texts
_INNARDS = re.compile(
    r"\b(?:tvm|std|onnx|relax|tirx|ffi|runtime)::|->\w|\b\w+\.(?:cc|cpp|h|py):?\d*\b|0x[0-9a-f]{6}|ir\.\w+\(|\bspan="
    r"|\bT\.\w|R\.shape|Check failed|is false"
)

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def reason(error: BaseException) -> str:
    """Reason that an exception of another library tells, in a line; "" where it says nothing that helps a reader.

    TVM puts traces of C++ around the line that tells, which is its last, and the text of the check before it.

    >>> reason(RuntimeError("trace\\nCheck failed: (n > 0) is false: the number of groups must be positive."))
    'the number of groups must be positive'
    >>> reason(RuntimeError("Check failed: (small.has_value()) is false: Literal value 4 exceeds a->b"))
    ''
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, MemoryError):
        return "memory ran out"
    if isinstance(error, KeyError | IndexError | AttributeError | AssertionError | NameError):
        return ""  # their texts are about the code that looked, not about the model
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    line = _CHECK.sub("", lines[-1] if lines else "").rstrip(".;: ")
    if _INNARDS.search(line):
        return ""
    return printable(line if len(line) <= LONGEST else f"{line[:LONGEST]} ...")


def clause(error: BaseException) -> str:
    """The reason in brackets, to be put behind a statement; "" where there is none."""
    text = reason(error)
    return f" ({text})" if text else ""


@contextmanager
def needs_extra(caller: str, package: str, extra: str, kind: type[TvmqError] = ConfigError) -> Iterator[None]:
    """Say how to install a package of an extra of tvmq where an import in the block fails."""
    try:
        yield
    except ImportError as error:
        raise kind(
            f'{caller}: {package} cannot be imported ({error}); install it with pip install "tvmq[{extra}]"'
        ) from error


def explain_exceptions(stage: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """A front end whose exceptions are all tvmq's: what another library raises becomes one sentence.

    stage    the front end, for the message
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @functools.wraps(function)
        def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            try:
                return function(*args, **kwargs)
            except TvmqError:
                raise
            except MemoryError as error:
                raise MemoryLimitError(
                    f"{stage}: memory ran out during the import; give max_bytes= to have large layers refused by "
                    "name, or use a machine with more"
                ) from error
            except Exception as error:  # of TVM, onnx, torch, NumPy: any
                raise ModelError(
                    f"{stage}: the model cannot be imported{clause(error)}; check it with its own runtime, then "
                    "export it again"
                ) from error

        return run

    return decorate
