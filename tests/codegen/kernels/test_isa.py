"""Instructions of every level against the bits of tvmq.numerics; levels that this CPU lacks are skipped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tvm
from tvm.script.ir_builder import tirx as T

from tests.codegen.kernels.harness import CPUS, compile_function, levels
from tvmq import numerics
from tvmq.codegen.kernels import isa
from tvmq.codegen.kernels.parts import builder, epilogue
from tvmq.codegen.kernels.parts.kernel_types import AddStep, Isa, Requantize, TableStep
from tvmq.errors import TargetError

LEVELS = levels("generic", "avx2", "avxvnni", "avx512bw", "avx512vnni", "avx512vbmi")


def run(level: str, arrays: dict[str, np.ndarray], body: Callable[..., None]) -> np.ndarray:
    """Build and run a function of flat buffers; the last array is the output."""
    parameters = {name: (array.shape, str(array.dtype)) for name, array in arrays.items()}
    with builder.FunctionBuilder("kernel", parameters) as function:
        body(isa.level(level), *(builder.flatten_buffer(buffer) for buffer in function.buffers))
    compiled = compile_function("kernel", function.prim_func, level)
    tensors = [tvm.runtime.tensor(array) for array in arrays.values()]
    compiled(*tensors)
    return tensors[-1].numpy()


@pytest.mark.parametrize("level", LEVELS)
def test_cpus_of_the_tests_have_the_features(level: str) -> None:
    target = tvm.target.Target({"kind": "llvm", "mcpu": CPUS[level]})
    for feature in isa.features("avx512vl" if level == "avxvnni" else level):
        assert tvm.target.codegen.llvm_cpu_has_features(feature, target)


@pytest.mark.parametrize("name", isa.LEVELS)
def test_the_table_of_levels_says_what_their_files_say(name: str) -> None:
    known, ins = isa.LEVELS[name], isa.level(name)
    assert known[1:] == (ins.arch, ins.vector_bytes, ins.features) and ins.name == name


SUMS = np.array(
    [0, 1, -1, 2, 3, 5, -3, -5, 255, 256, -256, 2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31), 2**30]
    + [-(2**30), 65535, -65536, 32767, -32768, 1000, -1000, 77, 13],
    np.int32,
)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("multipliers", [(0.5, 1e-9, 0.165), (3.0, 3e38, 0.25)])
@pytest.mark.parametrize("count,slope", [(1, 1.0), (2, 1.0), (4, 1.0), (1, 0.1), (4, 0.0)])
def test_requantize_of_all_kinds_of_sums(level: str, dtype: str, multipliers: tuple, count: int, slope: float) -> None:
    ins = isa.level(level)
    limits = np.iinfo(dtype)
    zero_point = 3
    sums = np.resize(SUMS, 25 * 3 * ins.vector_bytes)  # every sum meets every multiplier
    rows = sums.reshape(-1, count * ins.lanes)
    factors = np.resize(np.float32(multipliers), rows.shape[1])
    step = Requantize(factors, zero_point, int(limits.min) + 1, int(limits.max) - 2, dtype, slope)
    plan = epilogue.plan_epilogue((step,))
    order = ins.channel_order(count).ravel()

    def body(ins, x, multiplier, y):
        with T.serial(0, rows.shape[0]) as row:
            starts = [i * ins.lanes for i in range(count)]
            kind = builder.vector_type("int32", ins.lanes)
            vectors = [builder.load(x, row * rows.shape[1] + start, kind) for start in starts]
            constants = [plan.requantizer.load([multiplier], start, ins.lanes) for start in starts]
            codes = plan.requantizer.codes(ins, vectors, constants)
            builder.store(y, row * rows.shape[1], codes, rows.shape[1])

    (packed,) = plan.constants(lambda values: values[order])
    arrays = {"x": rows[:, order].ravel(), "multiplier": packed, "y": np.zeros(sums.size, dtype)}
    found = run(level, arrays, body)
    expected = numerics.requantize(
        rows, factors, axis=1, zero_point=zero_point, dtype=dtype, qmin=step.qmin, qmax=step.qmax,
        negative_slope=slope,
    )  # fmt: skip
    np.testing.assert_array_equal(found.reshape(rows.shape), expected)


def all_pairs(a_dtype: str, b_dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of codes."""
    bits = np.arange(256, dtype=np.uint8)
    return np.repeat(bits, 256).view(a_dtype), np.tile(bits, 256).view(b_dtype)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("a_dtype,b_dtype,dtype", [("uint8", "uint8", "uint8"), ("int8", "uint8", "int8")])
@pytest.mark.parametrize("scales", [(0.5, 0.3, 0.6), (40.0, 0.01, 0.011)])
def test_add_of_all_pairs(level: str, a_dtype: str, b_dtype: str, dtype: str, scales: tuple) -> None:
    params = numerics.add_params(scales[0], 7, scales[1], 11, scales[2])
    step = AddStep(*params, zero_point=5, qmin=2, qmax=120, b_dtype=b_dtype, dtype=dtype)
    a, b = all_pairs(a_dtype, b_dtype)

    def body(ins, a, b, y):
        size = ins.vector_bytes
        with T.serial(0, 65536 // size) as i:
            codes = [builder.load(v, i * size, f"{d}x{size}") for v, d in ((a, a_dtype), (b, b_dtype))]
            builder.store(y, i * size, ins.add(codes[0], codes[1], step, a_dtype), size)

    found = run(level, {"a": a, "b": b, "y": np.zeros(65536, dtype)}, body)
    expected = numerics.add(a, b, **params._asdict(), zero_point=5, dtype=dtype, qmin=2, qmax=120)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype,out_dtype", [("uint8", "uint8"), ("int8", "uint8"), ("uint8", "int8")])
@pytest.mark.parametrize("count", [5, 64, 300])
def test_steps_over_codes_touch_only_their_range(level: str, dtype: str, out_dtype: str, count: int) -> None:
    random = np.random.default_rng(0)
    values = random.integers(0, 256, 256).astype(np.uint8).view(out_dtype)
    start = random.integers(0, 256, 400).astype(np.uint8).view(dtype)
    b = random.integers(0, 256, 400).astype(np.uint8)
    add = AddStep(*numerics.add_params(0.5, 7, 0.3, 11, 0.6), zero_point=5, qmin=0, qmax=100, dtype=dtype)
    plan = epilogue.plan_epilogue((Requantize(np.float32([1]), 0, 0, 1, dtype), add, TableStep(values)))

    def body(ins, b, table, y):
        steps = plan.code_steps(ins, {"b0": b, "table0": table})
        steps.run(y, builder.const(7), count, count)

    table = plan.constants(lambda array: array)[1]
    found = run(level, {"b": b, "table": table, "y": start.view(out_dtype)}, body).view(dtype)
    after = numerics.add(
        start,
        b,
        **{k: getattr(add, k) for k in ("a_multiplier", "b_multiplier", "offset", "shift")},
        zero_point=5,
        dtype=dtype,
        qmin=0,
        qmax=100,
    )
    expected = start.copy()
    expected[7 : 7 + count] = numerics.table(after, values)[7 : 7 + count].view(dtype)
    np.testing.assert_array_equal(found, expected)


def test_key_is_the_code_not_the_constants() -> None:
    one, other = (epilogue.plan_epilogue((Requantize(np.float32([m]), 0, 0, 9),)) for m in (0.25, 0.5))
    assert one.key == other.key
    assert epilogue.plan_epilogue((Requantize(np.float32([1.5]), 0, 0, 9),)).key != one.key
    assert epilogue.plan_epilogue((Requantize(np.float32([1.5]), 0, 0, 9),), 2**29).key == one.key


def test_unknown_level_is_refused() -> None:
    with pytest.raises(TargetError, match="one of amx, .*Got 'mmx' instead"):
        isa.instructions(Isa("mmx", 8))


def test_epilogue_out_of_order_is_refused() -> None:
    table = TableStep(np.zeros(256, np.uint8))
    with pytest.raises(epilogue.BuildError, match="starts with a requantize step. Got TableStep instead"):
        epilogue.plan_epilogue((table,))
    step = Requantize(np.float32([1]), 0, 0, 1)
    with pytest.raises(epilogue.BuildError, match="Requantize cannot follow"):
        epilogue.plan_epilogue((step, step))
