"""The observe kernel at the vectors of all instruction sets: its statistics equal those of the definition."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import tvm

from tvmq.calibration.observers.base import TensorStatistics
from tvmq.calibration.observers.statistics_buffers import TOKEN, StatisticsBuffers
from tvmq.codegen.kernels.calibrate.observe import observer
from tvmq.codegen.target.cpu import resolve_target
from tvmq.runtime.call_code import share_memory
from tvmq.runtime.inputs import aligned_zeros

# Shape of a batch, axis of the channels, how the kernel sees a sample: outer, channels, inner.
LAYOUTS = {
    "columns": ((2, 19, 85), 2, (19, 85, 1)),
    "few": ((3, 7, 3), 2, (7, 3, 1)),
    "runs": ((2, 5, 301), 1, (1, 5, 301)),
    "rows of runs": ((1, 3, 4, 37), 2, (3, 4, 37)),
    "no channels": ((2, 61), None, (61, 1, 1)),
}
SCALES = (1.0, 100.0, 1e-3, 3e38, 1e-44)


@lru_cache(maxsize=3)
def compiled(lanes: int) -> Any:
    with tvm.transform.PassContext(config={"tirx.disable_assert": True}):
        return tvm.compile(tvm.IRModule({"observe": observer(lanes)}), resolve_target().as_tvm())["observe"]


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_equal_the_definition(layout: str, lanes: int) -> None:
    shape, axis, sizes = LAYOUTS[layout]
    random = np.random.default_rng(0)
    batches = [np.clip(random.standard_normal(shape), -1, 0.7).astype(np.float32) * np.float32(s) for s in SCALES]
    batches += [np.abs(batches[0]), -np.abs(batches[0]), 0 * batches[0], np.maximum(batches[1], 0)]
    streamed, arrays, tensors = memory(shape, axis)
    place = np.array([0, 0, streamed.slots, 1, 1, axis is not None, *sizes], np.int32)
    for x in batches:
        assert run(compiled(lanes), streamed, (arrays, tensors), place, x) == []
    streamed.finish()
    expected = TensorStatistics("x", channel_axis=axis)
    for x in batches:
        expected.update(x)
    found, wanted = streamed.statistics["x"].to_dict(), expected.to_dict()
    assert found.keys() == wanted.keys()
    for key, array in wanted.items():
        assert np.array_equal(found[key], array), key
    assert not arrays["observed_tables"].any()


@pytest.mark.slow_cases("nan0")
@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_marked(bad: float) -> None:
    streamed, arrays, tensors = memory((2, 61), None)
    place = np.array([0, 0, streamed.slots, 1, 1, 0, 61, 1, 1], np.int32)
    x = np.ones((2, 61), np.float32)
    x[1, 60] = bad
    assert run(compiled(16), streamed, (arrays, tensors), place, x) == ["x"]


def memory(shape: tuple[int, ...], axis: int | None) -> tuple[StatisticsBuffers, dict[str, np.ndarray], list[Any]]:
    streamed = StatisticsBuffers({"x": TensorStatistics("x", channel_axis=axis)}, {"x": shape}, {"x": True}, shape[0])
    arrays = {TOKEN: aligned_zeros((1,), "int32")}
    arrays |= {name: aligned_zeros(size, dtype) for name, (size, dtype) in streamed.shapes().items()}
    streamed.start(arrays)
    return streamed, arrays, [share_memory(array) for array in arrays.values()]


def run(function: Any, streamed: StatisticsBuffers, memory: Any, place: np.ndarray, x: np.ndarray) -> list[str]:
    """Observe a tensor in one run of the kernel; returns the tensors that were refused."""
    own, facts, following = (
        aligned_zeros((x.size,), "float32"),
        aligned_zeros(place.shape, "int32"),
        aligned_zeros((1,), "int32"),
    )
    own[:], facts[:] = x.reshape(-1), place
    streamed.prepare_run(len(x))
    function(share_memory(own), *memory[1], share_memory(facts), share_memory(following))
    return streamed.finish_run(len(x))
