"""Calibration from the user's loop: `observe` returns an object that is fed batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tvm

from tvmq.calibration.dataset import BatchSpool
from tvmq.calibration.observers.result import CalibrationResult
from tvmq.errors import CalibrationError
from tvmq.formats.relax import from_relax
from tvmq.graph.symbolic import inputs_of
from tvmq.options.config import QConfig, current_qconfig
from tvmq.passes.prepare import prepare
from tvmq.quantization.pipeline import run_calibration


def observe(
    mod: tvm.IRModule,
    params: Mapping[str, np.ndarray] | None = None,
    *,
    target: Any = None,
    config: QConfig | None = None,
) -> Observation:
    """Create an observer that takes calibration data batch by batch; arguments as for `quantize`.

    config  options; by default those of the qconfig around this call

    >>> import tvmq
    >>> from tvmq.demo import load_demo
    >>> demo = load_demo()
    >>> mod, params = tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})
    >>> obs = tvmq.observe(mod, params)
    >>> for picture in demo.calibration[:4]:
    ...     obs(picture)
    >>> obs.result() == tvmq.run_calibration(mod, params, demo.calibration[:4])
    True
    """
    return Observation(mod, params, target=target, config=config)


class Observation:
    """Batches that were fed so far, checked, in a temporary folder: memory does not grow with them.

    They are kept, not only their statistics, because the calibration reads data more than once: the channels that
    stand out decide what is observed, and the ranges decide how weights are rounded.
    """

    def __init__(
        self, mod: tvm.IRModule, params: Mapping[str, np.ndarray] | None, *, target: Any, config: QConfig | None
    ) -> None:
        self._model, self._target = from_relax(mod, params), target
        self._config = config or current_qconfig()
        self._batches = BatchSpool(inputs_of(prepare(*self._model)))

    def __call__(self, *batch: Any) -> None:
        """Add a batch: a dictionary {input: array}, or the inputs in order; arrays or torch tensors, batch first.

        raises  DataError for what does not fit the model, OutputError where the temporary folder has no room; nothing
                is kept of the batch then
        """
        self._batches.add(batch[0] if len(batch) == 1 else batch)

    def result(self) -> CalibrationResult:
        """Thresholds by the batches so far, as `run_calibration` gives them; more may follow.

        raises  CalibrationError before the first batch
        """
        if not self._batches.count:
            raise CalibrationError("observe: no data yet; feed it at least one batch, better 100 to 500 samples")
        return run_calibration(*self._model, self._batches, target=self._target, config=self._config)


__all__ = ["Observation", "observe"]
