"""Progress of long work: a line in the log of Python, and a call of the user's function, for each stage that ends.

    logging.basicConfig(level=logging.INFO)
    tvmq.quantize(mod, params, data)                      # INFO:tvmq:quantize, statistics of the data: 2.31 s
    tvmq.quantize(mod, params, data, callback=print)      # StageProgress(work='quantize', stage='prepare', ...)

Tests: tests/base/test_stage_progress.py
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

LOG = logging.getLogger("tvmq")
SHORT = 0.05  # seconds; stages below it are logged for debugging alone


@dataclass(frozen=True)
class StageProgress:
    """A stage of long work that has ended.

    work     what runs: "quantize", "search", "finetune"
    stage    its part, such as the name of a pass
    seconds  that the stage took
    elapsed  seconds since the work began
    """

    work: str
    stage: str
    seconds: float
    elapsed: float

    def __str__(self) -> str:
        return f"{self.work}, {self.stage}: {self.seconds:.2f} s"


Callback = Callable[[StageProgress], object]


@dataclass(frozen=True)
class _Work:
    name: str
    callback: Callback | None
    begin: float


_WORK: ContextVar[_Work | None] = ContextVar("work", default=None)


@contextmanager
def observed_work(name: str, callback: Callback | None) -> Iterator[None]:
    """Stages inside belong to this work; work inside of other work is a part of that.

    callback  called when a stage ends; an exception that it raises ends the work
    """
    if _WORK.get() is not None and callback is None:
        yield
        return
    token = _WORK.set(_Work(name, callback, time.perf_counter()))
    try:
        yield
    finally:
        _WORK.reset(token)


@contextmanager
def observed_stage(name: str) -> Iterator[None]:
    """A stage: it is reported when it ends without an error.

    >>> with observed_work("quantize", lambda progress: print(progress.stage)), observed_stage("realize"):
    ...     pass
    realize
    """
    begin = time.perf_counter()
    yield
    end, work = time.perf_counter(), _WORK.get()
    progress = StageProgress(work.name if work else "tvmq", name, end - begin, end - (work.begin if work else begin))
    LOG.log(logging.INFO if progress.seconds >= SHORT else logging.DEBUG, "%s", progress)
    if work is not None and work.callback is not None:
        work.callback(progress)
