"""Layers of free sizes: the definition's bits at random sizes; no size that nobody expected reads or writes outside."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvmq
from tests.support.fuzz.free_sizes import free_feeds, free_model, run_free
from tests.support.models.dynamic_models import Nodes, pictures
from tests.support.models.free_layers import LAYERS, FreeLayer, fix_sizes
from tvmq.codegen.target.cpu import missing_requirements, resolve_target
from tvmq.errors import DataError, MemoryLimitError, ModelError, TvmqError
from tvmq.numerics.deviation import unequal_bits
from tvmq.runtime.artifact.native_library import runs_linux_x86
from tvmq.runtime.threads import with_threads

REFUSED = {"resize linear, corners", "resize to a size"}
LESSER = ("x86-64-v3", "x86-64-v2", "x86-64")
ACTIVATIONS = ("static", "dynamic", None)
# All for this CPU, and for each of the lesser ones another way to compute, by turns
CASES = [(name, activations, "llvm") for name in LAYERS for activations in ACTIVATIONS] + [
    (name, ACTIVATIONS[(number + turn) % 3], target)
    for number, name in enumerate(LAYERS)
    for turn, target in enumerate(LESSER)
]


def of_run_time(model: onnx.ModelProto) -> Any:
    """The integer module without calibration, which takes no time."""
    with tvmq.qconfig(activations="dynamic"):
        return tvmq.quantize(*tvmq.from_onnx(model))


def layer_module(layer: FreeLayer, activations: str | None) -> Any:
    mod, params = tvmq.from_onnx(layer.make())
    if activations is None:
        return tvmq.build(mod, params=params).module
    if activations == "dynamic":
        return of_run_time(layer.make())
    return tvmq.quantize(mod, params, layer.feeds(1, 4), guard=None)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "activations", "target"), CASES)
def test_layers_equal_the_definition(name: str, activations: str | None, target: str) -> None:
    if missing_requirements(resolve_target(target)):
        pytest.skip(f"this CPU, or TVMQ_CPU, lacks {missing_requirements(resolve_target(target))}")
    try:
        compare_layer(LAYERS[name], activations, target)
    except TvmqError as error:
        assert name in REFUSED and "fix the" in str(error)


def compare_layer(layer: FreeLayer, activations: str | None, target: str) -> None:
    """Assert the definition's bits at eight sizes."""
    module = layer_module(layer, activations)
    exe, reference = tvmq.build(module, target=target), tvmq.reference.Reference(module)
    for number, feed in enumerate(layer.feeds(0, 8)):
        results = with_threads(1 + number % 2, lambda: exe.run(feed))  # noqa: B023  called at once
        for a, b in zip(results, map(np.asarray, reference.run(feed)), strict=True):
            assert a.shape == b.shape and not unequal_bits(a, b).any(), [x.shape for x in feed.values()]


# Kernels of dynamic sizes get some of them as numbers
MIXED = [
    (name, LAYERS[name].dimensions()[number % len(LAYERS[name].dimensions())], ACTIVATIONS[number % 3])
    for number, name in enumerate(LAYERS)
]


@pytest.mark.parametrize("name", LAYERS)
def test_sizes_are_drawn_of_every_layer(name: str) -> None:
    for free in LAYERS[name].dimensions():
        layer = fix_sizes(LAYERS[name], {free})
        assert layer.smallest() <= layer.most and len(layer.feeds(0, 8)) == 8


@pytest.mark.slow
@pytest.mark.parametrize(("name", "free", "activations"), MIXED)
def test_layers_with_one_free_size(name: str, free: str, activations: str | None) -> None:
    try:
        compare_layer(fix_sizes(LAYERS[name], {free}), activations, "llvm")
    except TvmqError as error:
        assert name in REFUSED and "fix the" in str(error)


@pytest.mark.slow_cases("words")
@pytest.mark.parametrize("free", ["words", "batch"])
def test_attention_to_a_fixed_number_of_keys(free: str) -> None:
    """Tiles that were cut for any number of keys must not be taken for those of this number."""
    compare_layer(fix_sizes(LAYERS["attention to others"], {free}), "static", "llvm")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40, 64))
def test_fuzz_cases(seed: int) -> None:
    model, known = free_model(seed)
    activations = "dynamic" if seed // 3 % 3 == 0 else "static"
    outcome = run_free(model, free_feeds(model, known, seed, 5), activations=activations)
    assert not outcome.failed, f"{outcome.kind} ({outcome.stage}): {outcome.text}"


@pytest.fixture(scope="module")
def halved() -> tvmq.Executable:
    """Pictures that a pool halves, with scales at run time."""
    return tvmq.build(of_run_time(pictures()))


@pytest.mark.parametrize("shape, words", [
    ((1, 3, 1, 1), "has 1 for 'rows' (axis 2), the model takes at least 2: layer '/maxpool_5' would have no values"),
    ((1, 3, 8, 1), "has 1 for 'columns' (axis 3), the model takes at least 2:"),
    ((1, 3, 0, 8), "has 0 for 'rows' (axis 2), the model takes at least 2:"),
])  # fmt: skip
def test_sizes_that_leave_nothing_to_compute_are_refused(
    halved: tvmq.Executable, shape: tuple[int, ...], words: str
) -> None:
    with pytest.raises(DataError) as caught:
        halved.run({"x": np.zeros(shape, np.float32)})
    assert words in str(caught.value) and "\n" not in str(caught.value)
    assert halved.run({"x": np.zeros((1, 3, 2, 2), np.float32)})[0].shape == (1, 4, 2, 2)
    assert halved.run({"x": np.zeros((0, 3, 8, 8), np.float32)})[0].shape == (0, 4, 8, 8)


def test_inputs_larger_than_memory_are_refused(halved: tvmq.Executable) -> None:
    """Arrays that repeat one number may have any size."""
    for shape in ((1, 3, 2**20, 2**20), (2**31, 3, 2, 2), (1, 3, 2**29, 2**29)):
        with pytest.raises((DataError, MemoryLimitError), match="^run: "):
            halved.run({"x": np.broadcast_to(np.float32(0.5), shape)})


def grow(steps: int, run: Any, random: np.random.Generator) -> float:
    """MiB that a process gains in the second half of so many runs of random sizes."""
    marks = []
    for number in range(steps):
        run(random)
        if number in (steps // 2, steps - 1):
            marks.append(_anonymous_memory())
    return marks[1] - marks[0]


def _anonymous_memory() -> float:
    """MiB of this process that no file backs: pages of files come and go with what else the machine does."""
    gc.collect()
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return sum(int(lines[name].split()[0]) for name in ("RssAnon", "VmSwap")) / 2**10


def run_random(exe: Any, threads: itertools.cycle[int]) -> Any:
    def run(random: np.random.Generator) -> None:
        shape = (int(random.integers(1, 4)), 3, *(int(side) for side in random.integers(2, 40, 2)))
        feed = {"x": np.zeros(shape, np.float32)}
        if isinstance(exe, tvmq.Executable):
            with_threads(next(threads), lambda: exe.run(feed))
        else:
            exe.run(feed)

    return run


def grow_executable(exe: tvmq.Executable, count: int) -> float:
    return grow(count, run_random(exe, itertools.cycle((1, 2))), np.random.default_rng(0))


def grow_library(folder: Path, threads: int, count: int) -> float:
    library = tvmq.load(folder, num_threads=threads)
    return grow(count, run_random(library, itertools.cycle((1,))), np.random.default_rng(0))


def grow_in_process(call: str) -> float:
    """The figure of a call of these functions in a process of its own: here other tests free memory at times."""
    code = f"from pathlib import Path; import tvmq; from tests.runtime.test_free_sizes import *; print({call})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


@pytest.mark.skipif(not runs_linux_x86(), reason="memory is read from /proc")
def test_memory_stays_flat_over_random_sizes(halved: tvmq.Executable) -> None:
    assert grow_executable(halved, 300) < 4


@pytest.mark.slow
@pytest.mark.skipif(not runs_linux_x86(), reason="memory is read from /proc")
def test_memory_stays_flat_over_many_sizes(halved: tvmq.Executable, tmp_path: Path) -> None:
    halved.save(tmp_path / "m.tvmq")
    assert grow_in_process(f"grow_executable(tvmq.load({str(tmp_path / 'm.tvmq')!r}), 10_000)") < 1


@pytest.mark.slow
@pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
@pytest.mark.parametrize("threads", [1, 2])
def test_memory_of_a_library_stays_flat_over_many_sizes(halved: tvmq.Executable, tmp_path: Path, threads: int) -> None:
    tvmq.export_library(halved, tmp_path / "m")
    assert grow_in_process(f"grow_library(Path({str(tmp_path / 'm')!r}), {threads}, 10_000)") < 1


def model_of(step: Any) -> onnx.ModelProto:
    g = Nodes(0)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4, "rows", "columns"])
    return g.model([given], step(g))


@pytest.mark.parametrize("end", [-(2**31), 1 - 2**31, -(2**63)])
def test_free_axes_backwards(end: int) -> None:
    """TVM's own slice leaves int64 for two of them."""

    def step(g: Nodes) -> str:
        minus = g.constant(np.int64([-1, -1]))
        return g.add("Slice", "x", minus, g.constant(np.int64([end, end])), g.constant(np.int64([2, 3])), minus)

    x = np.random.default_rng(0).random((2, 4, 5, 7), np.float32)
    (found,) = tvmq.build(tvmq.from_onnx(model_of(step))[0]).run({"x": x})
    np.testing.assert_array_equal(found, x[:, :, ::-1, ::-1])


def test_sizes_that_are_not_known_are_refused() -> None:
    """A choice between two of which nobody knows that they are alike."""

    def step(g: Nodes) -> str:
        bounds = [g.constant(np.int64([value])) for value in (0, -1, 2)]
        rows = g.add("Slice", "x", *bounds)
        y = g.add("Conv", rows, g.weight(4, 4, 1, 1))
        count = g.add("Gather", g.add("Shape", rows), g.constant(np.int64(2)), axis=0)
        places = g.add("Range", g.constant(np.int64(0)), count, g.constant(np.int64(1)))
        small = g.add("Less", g.add("Unsqueeze", places, g.constant(np.int64([1]))), g.constant(np.int64(3)))
        return g.add("Where", small, y, g.constant(np.float32(0)))

    mod, params = tvmq.from_onnx(model_of(step))
    with pytest.raises(ModelError, match="layer '/where_.*': sizes of what it reads are not proved to fit each other"):
        tvmq.build(mod, params=params)


def test_sizes_by_a_condition_are_refused() -> None:
    """Pools that round up, and whose strides are longer than their windows."""

    def step(g: Nodes) -> str:
        return g.add("AveragePool", "x", kernel_shape=[1, 1], strides=[3, 3], ceil_mode=1, count_include_pad=1)

    mod, params = tvmq.from_onnx(model_of(step))
    with pytest.raises(ModelError, match="layer '/averagepool_.*': a size of .*if_then_else.* depends on a condition"):
        tvmq.build(mod, params=params)
