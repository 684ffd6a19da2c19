"""Facts that a trial depends on, as plain data with a content hash: it travels to any worker and names its results.

Tests: tests/quantization/search/test_finetuning.py
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import tvm

from tvmq.backends.description import Backend
from tvmq.calibration.dataset import Dataset, Feed
from tvmq.calibration.observers.base import TensorStatistics
from tvmq.codegen.cost import Machine
from tvmq.codegen.target.cpu import CpuTarget, resolve_target
from tvmq.errors import ConfigError
from tvmq.options.config import QConfig
from tvmq.quantization.pipeline import Finetuning
from tvmq.quantization.search.goal import Goal
from tvmq.quantization.search.scores import Named
from tvmq.runtime.artifact.module_bytes import module_from_bytes, module_to_bytes


@dataclass(frozen=True)
class Problem:
    """A search as its workers get it: the model, the data, the goal and the options around.

    module       the prepared float module, as artifact/module_bytes.py writes it
    calibration  batches that choose ranges
    samples      batches that judge, in order
    labels       of `samples`; None where decibels judge
    metric       see scores.py; None where decibels judge
    goal         what is reached for
    config       options of `quantize`, those of the backend filled in
    backend      description of the target's integers
    target       CPU that forecasts are for: options of tvm.target.Target as JSON
    machine      its clock and caches, so that all workers forecast alike
    finetune     what may train the integers of a recipe; no part of the key, but of those of its results, by `training`
    training     how it trains, and with what
    statistics   of the calibration data, where they are known already; no part of the key: they follow from the data
    """

    module: Mapping[str, bytes]
    calibration: tuple[Feed, ...]
    samples: tuple[Feed, ...]
    labels: Any
    metric: Named | None
    goal: Goal
    config: QConfig
    backend: Backend
    target: str
    machine: Machine
    finetune: Finetuning | None = field(default=None, compare=False, repr=False)
    training: str = field(default="", compare=False)
    statistics: Mapping[str, TensorStatistics] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def key(self) -> str:
        """Hash of all of it and of the code that measures."""
        digest = hashlib.sha256(code_version().encode())
        for name in sorted(self.module):
            digest.update(self.module[name])
        for feeds in (self.calibration, self.samples):
            for array in _arrays(feeds):
                digest.update(array)
        facts = [
            _label_bytes(self.labels), _metric_text(self.metric), str(self.goal), json.dumps(self.config.to_dict()),
            repr(self.backend), self.target, repr(self.machine),
        ]  # fmt: skip
        digest.update(json.dumps(facts).encode())
        return digest.hexdigest()

    def load_module(self) -> tvm.IRModule:
        """The float module."""
        return module_from_bytes("search", self.module)

    def cpu(self) -> CpuTarget:
        """The CPU that forecasts are for."""
        return resolve_target(json.loads(self.target))

    def key_of(self, *what: str) -> str:
        """Key of one result of this problem."""
        return hashlib.sha256("\n".join((self.key, *what)).encode()).hexdigest()


def make_problem(
    prepared: tvm.IRModule,
    calibration: Dataset,
    samples: Dataset,
    labels: Any,
    metric: Named | None,
    goal: Goal,
    config: QConfig,
    backend: Backend,
    target: CpuTarget,
    machine: Machine,
    finetune: Finetuning | None = None,
) -> Problem:
    """See `Problem`.

    raises  ConfigError for rules that are functions: they cannot be compared, nor sent to another process
    """
    if any(callable(rule.match) for rule in config.rules):
        raise ConfigError(
            "search: a rule that is a function cannot be kept in a journal; write it as a glob or a regex"
        )
    return Problem(
        module_to_bytes(prepared), tuple(_batches(calibration)), tuple(_batches(samples)), labels, metric, goal,
        config, backend, json.dumps(target.tvm, sort_keys=True), machine, finetune,
        finetune.identity if finetune is not None else "",
    )  # fmt: skip


def _batches(data: Dataset) -> Iterator[Feed]:
    """Batches without repeated samples."""
    for feed, count in data:
        yield {name: np.array(value[:count]) if value.ndim else np.array(value) for name, value in feed.items()}


def _arrays(feeds: Iterable[Feed]) -> Iterator[bytes]:
    for feed in feeds:
        for name in sorted(feed):
            yield f"{name} {feed[name].dtype} {feed[name].shape}".encode()
            yield np.ascontiguousarray(feed[name]).tobytes()


def _label_bytes(labels: Any) -> str:
    if labels is None:
        return ""
    try:
        array = np.asarray(labels)
        return hashlib.sha256(f"{array.dtype} {array.shape}".encode() + array.tobytes()).hexdigest()
    except ValueError:  # of different lengths
        return hashlib.sha256(repr(labels).encode()).hexdigest()


def _metric_text(metric: Named | None) -> str:
    """The metric by name; of a function also what it computes."""
    if metric is None or isinstance(metric, str):
        return metric or ""
    code = getattr(metric, "__code__", None)
    computes = f"{code.co_code.hex()} {code.co_consts}" if code else ""
    return f"{metric.__module__}:{metric.__qualname__} {computes}"


@lru_cache(maxsize=1)
def code_version() -> str:
    """Hash of tvmq's sources: results of another version are not taken for ours."""
    digest = hashlib.sha256()
    for package in ("tvmq", "tvmq.passes"):
        root = Path(str(import_module(package).__file__)).parent
        for path in sorted(root.rglob("*.py")):
            digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()
