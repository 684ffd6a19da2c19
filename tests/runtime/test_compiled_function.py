"""The four functions of an executable: codes in, codes out, each equal to its definition; also after saving."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tvmq
from tests.support.models.dynamic_models import encoder, pictures, texts
from tests.support.models.networks import Net, feeds_of
from tvmq.errors import ConfigError, DataError
from tvmq.graph.module_functions import PARTS, is_partitioned
from tvmq.passes.integrality import integrality
from tvmq.reference import run


@pytest.fixture(scope="module")
def split() -> tuple[tvmq.Executable, tvmq.Executable, dict[str, np.ndarray]]:
    """A network of two inputs and two outputs, in one function and in four, and inputs for it."""
    n = Net((1, 3, 8, 8), (1, 3, 8, 8))
    y = n.op("Add", n.conv("x", 3, 6), n.conv("x1", 3, 6))
    z = n.op("Sigmoid", n.conv(n.op("Relu", y), 6, 4))
    model = n.model(z, n.op("GlobalAveragePool", n.conv(y, 6, 5)))
    mod, params = tvmq.from_onnx(model)
    made = []
    for mode in ("disabled", "fully_integral"):
        with tvmq.qconfig(calibrate_mode="minmax", requantize="fixed_point", partition_conversions=mode):
            made.append(tvmq.build(tvmq.quantize(mod, params, feeds_of(model), guard=None)))
    return made[0], made[1], feeds_of(model, 1, seed=3)[0]


def chained(exe: tvmq.Executable, feed: dict[str, np.ndarray]) -> list[list[np.ndarray]]:
    """Results of the three functions, each run on those of the one before."""
    found = [list(feed.values())]
    for name in PARTS:
        names = [info.name for info in exe[name].input_info]
        found.append(exe[name].run(dict(zip(names, found[-1], strict=True))))
    return found[1:]


@pytest.mark.slow
def test_the_functions_one_after_another_are_main(split) -> None:
    whole, parts, feed = split
    results = parts.run(feed)
    for a, b, c in zip(results, chained(parts, feed)[-1], whole.run(feed), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)
    assert whole.functions == ("main",) and parts.functions == ("main", *PARTS)
    assert parts["main"](*feed.values())[0].tobytes() == parts(*feed.values())[0].tobytes()


@pytest.mark.slow
def test_results_are_looked_at_without_a_copy(split) -> None:
    """Values of views equal those of copies, for fixed and dynamic sizes; errors are those of `run`."""
    whole, _, feed = split
    for seen, result in zip(whole["main"].look(feed), whole.run(feed), strict=True):
        assert not seen.flags.owndata and np.array_equal(seen, result)
    with pytest.raises(DataError, match="'x'"):
        whole["main"].look({"x1": feed["x1"]})
    dynamic = tvmq.build(*tvmq.from_onnx(pictures()))
    x = {"x": np.random.default_rng(0).random((2, 3, 12, 12), dtype=np.float32)}
    assert dynamic.input_info[0].name == "x" and np.array_equal(dynamic["main"].look(x)[0], dynamic.run(x)[0])


@pytest.mark.slow
def test_each_function_equals_its_definition(split) -> None:
    _, parts, feed = split
    given = list(feed.values())
    for name, results in zip(PARTS, chained(parts, feed), strict=True):
        defined = run(parts.module, given, function=name)
        for a, b in zip(results, defined, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        given = results


@pytest.mark.slow
def test_what_the_core_takes_and_gives(split) -> None:
    _, parts, feed = split
    core = parts["quantized_main"]
    assert [(i.name, i.dtype, i.shape) for i in core.input_info] == [
        ("x", "uint8", (1, 3, 8, 8)),
        ("x1", "uint8", (1, 3, 8, 8)),
    ]
    assert [i.dtype for i in core.output_info] == ["uint8", "int32"]  # codes behind a table, sums of codes
    codes = parts["quantize_inputs"].run(feed)
    for info, given, made in zip(core.input_info, parts["quantize_inputs"].output_info, codes, strict=True):
        assert (info.scale, info.zero_point, made.dtype) == (given.scale, given.zero_point, np.uint8)
        real = (made.astype(np.float64) - info.zero_point) * info.scale
        assert abs(real - feed[info.name]).max() < 3 * info.scale
    for info, given in zip(core.output_info, parts["dequantize_outputs"].input_info, strict=True):
        assert info.scale == given.scale > 0 and 0 <= info.zero_point == given.zero_point <= 255
    assert core.output_info[1].zero_point == 0
    assert parts.input_info == parts["main"].input_info
    assert str(core) == (
        "CompiledFunction(quantized_main: x uint8[1, 3, 8, 8], x1 uint8[1, 3, 8, 8] -> "
        f"{', '.join(map(str, core.output_info))})"
    )


@pytest.mark.slow
def test_accumulators_leave_with_a_scale_for_each_channel() -> None:
    n = Net((1, 3, 6, 6))
    model = n.model(n.conv("x", 3, 4))
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(calibrate_mode="minmax", partition_conversions="enabled"):
        exe = tvmq.build(tvmq.quantize(mod, params, feeds_of(model), guard=None))
    (info,) = exe["quantized_main"].output_info
    assert info.dtype == "int32" and np.shape(info.scale) == (4,) and not np.any(info.zero_point)


@pytest.mark.slow
def test_saved_and_loaded(split, tmp_path: Path) -> None:
    _, parts, feed = split
    sha256 = parts.save(tmp_path / "m.tvmq")
    loaded = tvmq.load(tmp_path / "m.tvmq", sha256=sha256)
    assert loaded.functions == parts.functions and is_partitioned(loaded.module)
    for name in parts.functions:
        assert loaded[name].input_info == parts[name].input_info
        assert loaded[name].output_info == parts[name].output_info
    for a, b in zip(chained(parts, feed), chained(loaded, feed), strict=True):
        assert [x.tobytes() for x in a] == [x.tobytes() for x in b]


@pytest.mark.slow
def test_kernels_and_constants_are_shared(split, tmp_path: Path) -> None:
    """Four functions cost little more room than one."""
    whole, parts, _ = split
    for name, exe in (("one", whole), ("four", parts)):
        exe.save(tmp_path / name)
    assert (tmp_path / "four").stat().st_size < 1.6 * (tmp_path / "one").stat().st_size


def test_refusals(split, tmp_path: Path) -> None:
    whole, parts, feed = split
    with pytest.raises(ConfigError, match="no function 'quantized_main', it has main; quantize it with qconfig"):
        whole["quantized_main"]
    with pytest.raises(ConfigError, match="no function 'core', it has main, quantize_inputs, quantized_main, deq"):
        parts["core"]
    with pytest.raises(DataError, match="input 'x' is float32, the model takes uint8"):
        parts["quantized_main"].run(feed)


def shots(count: int, rows: int) -> dict[str, np.ndarray]:
    """Inputs of `pictures`."""
    return {"x": np.random.default_rng(rows).standard_normal((count, 3, rows, 6)).astype(np.float32)}


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("model, feeds", [
    (encoder(), [texts(3, 9), texts(2, 5)]), (pictures(), [shots(2, 8), shots(1, 4)]),
])  # fmt: skip
def test_dynamic_sizes(model, feeds) -> None:
    """Batches and lengths are dynamic in each function; token ids enter as they are."""
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(calibrate_mode="minmax", partition_conversions="enabled"):
        exe = tvmq.build(tvmq.quantize(mod, params, feeds, guard=None))
    for feed in feeds:
        for a, b in zip(exe.run(feed), chained(exe, feed)[-1], strict=True):
            np.testing.assert_array_equal(a, b)
    if "ids" in feeds[0]:
        assert integrality(exe.module).entry["ids"] == "int64"
        np.testing.assert_array_equal(exe["quantize_inputs"].run(feeds[0])[0], feeds[0]["ids"])


@pytest.mark.slow
def test_sizes_given_to_build_keep_the_functions() -> None:
    mod, params = tvmq.from_onnx(pictures())
    feed = shots(2, 8)
    with tvmq.qconfig(calibrate_mode="minmax", partition_conversions="enabled"):
        quantized = tvmq.quantize(mod, params, [feed], guard=None)
    exe = tvmq.build(quantized, sizes={"batch": 2, "rows": 8, "columns": 6})
    assert [info.shape for info in exe["quantized_main"].input_info] == [(2, 3, 8, 6)]
    np.testing.assert_array_equal(chained(exe, feed)[-1][0], exe.run(feed)[0])
