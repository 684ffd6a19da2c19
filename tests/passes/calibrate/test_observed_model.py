"""Statistics taken inside of the model: the state that the definition has, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
import tvm

import tvmq
from tests.passes.stages import annotated
from tests.support.models.networks import block
from tvmq.calibration.observers.base import TensorStatistics
from tvmq.calibration.observers.statistics_buffers import StatisticsBuffers
from tvmq.codegen.compile import evaluators
from tvmq.errors import RangeError
from tvmq.graph.view import View
from tvmq.passes.calibrate import observed_model
from tvmq.passes.calibrate.collect import all_statistics, collect, has_batch
from tvmq.passes.calibrate.observed_model import (
    Feed,
    Run,
    can_be_observed,
    drop_uncalibrated,
    observe,
    return_intermediates,
)

RANDOM = np.random.default_rng(0)


def run_of(mod: tvm.IRModule) -> Run:
    return tvmq.build(mod).run


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed_model, "MANY_VALUES", 0)


def pictures(batch: int | str = 2) -> tvm.IRModule:
    """Convolutions of 5 and 80 channels, so that vectors of channels and single ones occur; a mean."""
    weights = {
        "w": RANDOM.integers(-9, 10, (80, 3, 3, 3)).astype(np.float32),
        "v": RANDOM.integers(-9, 10, (5, 80, 1, 1)).astype(np.float32),
        "u": RANDOM.standard_normal((5, 2)).astype(np.float32),
    }
    shapes = ", ".join(f'{name}: R.Tensor({array.shape}, "float32")' for name, array in weights.items())
    body = """
c = R.nn.conv2d(x, w)
r = R.nn.relu(c)
d = R.nn.conv2d(r, v)
m = R.mean(d, axis=[2, 3])
y = R.matmul(m, u)"""
    return annotated(
        block(f'x: R.Tensor(({batch}, 3, 9, 8), "float32"), {shapes}', body, f'({batch}, 2), "float32"', **weights)
    )


def sequences() -> tvm.IRModule:
    """Products whose channels are the last axis, and one, of the second operand, whose are not."""
    weights = {name: RANDOM.standard_normal((24, 72)).astype(np.float32) for name in "wv"}
    shapes = ", ".join(f'{name}: R.Tensor({array.shape}, "float32")' for name, array in weights.items())
    body = """
q = R.matmul(x, w)
k = R.matmul(x, v)
t = R.permute_dims(k, axes=[0, 2, 1])
y = R.matmul(q, t)"""
    return annotated(block(f'x: R.Tensor((1, 19, 24), "float32"), {shapes}', body, '(1, 19, 19), "float32"', **weights))


def feeds(shape: tuple[int, ...], scales: tuple[float, ...]) -> list[tuple[Feed, int]]:
    """Batches of rising and falling magnitude; of the last one a sample does not count, if there are two."""
    found = []
    for scale in scales:
        x = (RANDOM.standard_normal(shape) * scale).astype(np.float32)
        x[:, ..., ::5] = 0
        found.append(({"x": x}, shape[0]))
    return [*found[:-1], (found[-1][0], max(1, shape[0] - 1))]


def expected(
    mod: tvm.IRModule, batches: list[tuple[Feed, int]], like: dict[str, TensorStatistics]
) -> list[TensorStatistics]:
    """NumPy's statistics of what the model returns."""
    view, run = View(mod), run_of(drop_uncalibrated(return_intermediates(mod, list(like))))
    found = [
        TensorStatistics(name, channel_axis=one.ranges.channel_axis, with_histogram=one.has_histogram)
        for name, one in like.items()
    ]
    for feed, count in batches:
        for one, value in zip(found, run(feed), strict=True):
            one.update(value[:count] if has_batch(view, one.name) else value[None])
    return found


def check_equal(mod: tvm.IRModule, batches: list[tuple[Feed, int]], *, with_histogram: bool = True) -> None:
    kept: list[int] = []

    def compile_in_place(inner: tvm.IRModule) -> observed_model.InPlaceRunner:
        kept.append(1)
        return evaluators.Runner(inner)

    found = collect(mod, batches, run_of, with_histogram=with_histogram, compile_in_place=compile_in_place)
    assert kept, "nothing was observed"
    for one, other in zip(found.values(), expected(mod, batches, found), strict=True):
        ours, theirs = one.to_dict(), other.to_dict()
        assert ours.keys() == theirs.keys()
        for key, array in ours.items():
            assert array.dtype == theirs[key].dtype and np.array_equal(array, theirs[key]), (one.name, key)


SCALES = (1.0, 3.0, 1e-3, 40.0, 1e-42, 1e20, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("with_histogram", [True, False])
def test_pictures(with_histogram: bool) -> None:
    check_equal(pictures(), feeds((2, 3, 9, 8), SCALES), with_histogram=with_histogram)


@pytest.mark.slow
def test_results_are_handed_over() -> None:
    mod, batches = pictures(), feeds((2, 3, 9, 8), (1.0, 3.0))
    found: list[list[np.ndarray]] = []
    collect(
        mod,
        batches,
        run_of,
        compile_in_place=evaluators.Runner,
        results=lambda ys: found.append(list(map(np.array, ys))),
    )
    run = run_of(drop_uncalibrated(mod))
    assert len(found) == len(batches)
    for (feed, _), got in zip(batches, found, strict=True):
        for one, other in zip(got, run(feed), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_sequences() -> None:
    check_equal(sequences(), feeds((1, 19, 24), SCALES))


@pytest.mark.slow
def test_more_samples_than_slots_and_nothing_but_zeros() -> None:
    check_equal(pictures(), feeds((2, 3, 9, 8), (0.0,)))
    check_equal(sequences(), feeds((1, 19, 24), tuple(RANDOM.uniform(0.5, 2, 70))))


@pytest.mark.slow
def test_infinity_is_refused_with_the_name_of_the_first_tensor() -> None:
    batches = feeds((2, 3, 9, 8), (1.0, 1.0))
    batches[1][0]["x"][0, 0, 0, 0] = np.inf
    with pytest.raises(RangeError, match="'x'"):
        collect(pictures(), batches, run_of, compile_in_place=evaluators.Runner)


@pytest.mark.slow
def test_other_sizes_than_the_first_are_returned() -> None:
    mod = pictures('"batch"')
    batches = [*feeds((2, 3, 9, 8), (1.0,)), *feeds((3, 3, 9, 8), (2.0,))]
    for feed, _ in batches:  # whole numbers: code for any size may add floats in another order
        np.rint(feed["x"], out=feed["x"])
    check_equal(mod, batches)


def test_observing_modules_print_and_parse_back() -> None:
    mod = sequences()
    statistics, batched = all_statistics(mod)
    shapes = {name: tuple(map(int, View(mod).var[name].ty.shape)) for name in statistics}
    module = drop_uncalibrated(observe(mod, StatisticsBuffers(statistics, shapes, batched, 1)))
    text = module.script(show_meta=True)
    assert text.count("R.tvmq.observe(") == len(statistics) > 2
    tvm.ir.assert_structural_equal(tvm.script.from_source(text), module)


def test_what_cannot_be_observed() -> None:
    view = View(annotated(block('x: R.Tensor((2, 3), "int32"), observed: R.Tensor((2, 3), "float32")', "y = R.abs(x)")))
    assert not can_be_observed(view, ["x"])
