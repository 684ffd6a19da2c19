"""tvm.autotvm: logs of measured schedules are not read; tiles are measured by tvmq.build(qmod, tune=seconds).

Scopes around a build do nothing, so that scripts run; tuning itself says what to do instead.

Tests: tests/relay/test_imports.py
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tvmq.relay.tvm.forward import refuse


def apply_history_best(records: Any = None, **options: Any) -> AbstractContextManager[None]:
    """A scope without effect, with a warning; kernels are chosen by tvmq.build."""
    warnings.warn(
        "autotvm.apply_history_best: logs of schedules are not read; tvmq.build(qmod, tune=seconds) measures tiles",
        stacklevel=2,
    )
    return nullcontext()


class tophub:
    """Stand-in for autotvm.tophub."""

    @staticmethod
    def context(target: Any = None, extra_files: Any = None) -> AbstractContextManager[None]:
        """A scope without effect; nothing is downloaded.

        >>> with tophub.context("llvm"):
        ...     print("inside")
        inside
        """
        return nullcontext()


def __getattr__(name: str) -> Any:
    """Refuse the rest, with what to do (PEP 562)."""
    return refuse(
        "tvm.autotvm", name, "tiles are measured by tvmq.build(qmod, tune=seconds), or `tvmq quantize --tune`"
    )
