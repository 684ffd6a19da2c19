"""Single instructions against their definition: on this CPU's levels, and on emulated Arm."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tvm
import tvm_ffi

from tests.codegen.kernels import arm
from tests.codegen.kernels.harness import CPUS, GuardedOutput, levels
from tvmq import numerics
from tvmq.codegen.compile.vm_pipeline import OPT_LEVEL, OPTIONS
from tvmq.codegen.kernels import isa
from tvmq.codegen.kernels.isa.generic import Instructions
from tvmq.codegen.kernels.isa.semantics import definition_of
from tvmq.codegen.kernels.parts.builder import FunctionBuilder, flatten_buffer, load, store, vector_type
from tvmq.codegen.kernels.parts.kernel_types import AddStep

LEVELS = levels("generic", "avx2", "avxvnni", "avx512bw", "avx512vnni", "avx512vl", "avx512vbmi")
# Questions about an instruction set, which emit nothing
FACTS = {"shift_of", "tile_registers", "channel_order"}
STEP = AddStep(*numerics.add_params(0.5, 7, 0.3, 11, 0.6), zero_point=5, qmin=2, qmax=120, b_dtype="int8")
WIDE_STEP = AddStep(*numerics.add_params(40.0, 7, 0.01, 11, 0.011), zero_point=5, qmin=0, qmax=255)


class Use(NamedTuple):
    """An instruction and its operands: buffers, which it reads itself, or vectors; then further arguments."""

    name: str
    vectors: tuple[np.ndarray, ...] = ()
    buffers: tuple[np.ndarray, ...] = ()
    extra: tuple[Any, ...] = ()

    def apply(self, function: Any, buffers: Any, vectors: Any) -> list[Any]:
        """Results of the method, or of its definition."""
        if self.name == "lookup":
            results = function(*buffers, *self.extra)(*vectors)
        elif self.name == "narrow_vectors":
            results = function(vectors, *self.extra)
        else:
            results = function(*buffers, *vectors, *self.extra)
        return list(results) if isinstance(results, tuple | list) else [results]


def values(dtype: str, count: int, seed: int = 0, *, most: int = 2**31 - 1) -> np.ndarray:
    """Numbers of a type, a third of them extreme, none beyond `most`."""
    random, limits = np.random.default_rng(seed), np.iinfo(dtype)
    low, high = max(limits.min, -most - 1), min(limits.max, most)
    mixed = random.integers(low, high, count, endpoint=True)
    return np.where(random.random(count) < 0.35, random.choice([low, low + 1, 0, high], count), mixed).astype(dtype)


def is_dot_used(ins: Any) -> bool:
    """False for instructions that multiply pixels by pairs, or bytes in int16 lanes, in the place of `dot`."""
    return ins.row_step == 1 and not hasattr(ins, "fold_products")


def uses_of(ins: Any) -> Iterator[Use]:
    """Each instruction of a level with operands, extremes among them; sums stay within int32 where it asks for that."""
    lanes, size, wide = ins.lanes, ins.vector_bytes, 2 * ins.lanes
    sums = values("int32", lanes, most=2**20)
    x, w = values(ins.x_dtype, 40, 1), values(ins.w_dtype, ins.taps * lanes, 2, most=127)
    if ins.row_step == 2:
        pairs = (sums, values("int32", lanes, 3, most=2**20))
        yield Use("two_pixels", (), (x,), (3, 19))
        yield Use("dot_pair", (*pairs, x[: 2 * ins.taps], w))
        yield Use("exchange_halves", pairs)
    else:
        yield Use("broadcast", (), (x,), (5,))
    if is_dot_used(ins):
        yield Use("dot", (sums, values(ins.x_dtype, ins.taps * lanes, 1), w))
    if ins.has_dot_int16:
        codes = values("int16", wide, 4)
        yield Use("dot_int16", (sums, codes, values("int16", wide, 5, most=2**14)))
        yield Use("multiply_pairs", (codes, values("int16", wide, 5, most=2**14)))
        yield Use("multiply_bytes", (values("uint8", 2 * wide, 6), values("int8", 2 * wide, 7)))
        yield Use("pack_int16", (values("int32", lanes, 8), values("int32", lanes, 9)))
        yield Use("add_int16", (codes, values("int16", wide, 10)))
        for dtype in ("uint8", "int8"):
            yield Use("pack_bytes", (codes, values("int16", wide, 11, most=300)), (), (dtype,))
            yield Use("flip_sign", (values("int8" if dtype == "uint8" else "uint8", size, 12),), (), (dtype,))
        for high in (0, 1):
            for width in (1, 2):
                yield Use("unpack", (values("uint8", size, 13), values("uint8", size, 14)), (), (high, width))
    if hasattr(ins, "fold_products"):
        yield Use("ones")
        yield Use("fold_products", (sums, values("int16", wide, 15), np.ones(wide, np.int16)))
    reals = np.resize(np.float32([0.5, 1.5, -0.5, -2.5, 2**23 + 1, -(2**30), 1e-45, 77.5, -0.0]), lanes)
    yield Use("to_int32", (reals,))
    yield Use("to_int32_saturated", (np.where(np.arange(lanes) % 3, reals, np.float32(3e38) * np.sign(reals)),))
    for count in (1, 2, 4):
        for dtype, zero in (("uint8", 3), ("int8", -128), ("uint8", 0)):
            vectors = tuple(values("int32", lanes, 16 + i) // (1 if i % 2 else 2**23) for i in range(count))
            yield Use("narrow_vectors", tuple(v.astype(np.int32) for v in vectors), (), (zero, dtype))
        yield Use("rows_in_order", (values("uint8", size, 20),), (), (count, "uint8"))
    yield Use("add", (values("uint8", size, 21), values("int8", size, 22)), (), (STEP, "uint8"))
    yield Use("add", (values("int8", size, 23), values("uint8", size, 24)), (), (WIDE_STEP, "int8"))
    yield Use("lookup", (values("uint8", size, 25),), (values("int8", 256, 26),), ("int8",))


def forms_of(level: str) -> list[Any]:
    """Instructions of a level, and of its forms for other operands and widths."""
    ins = isa.level(level)
    forms = [ins, ins.products, ins.int16_operands, ins.lane_form, ins.half_width]
    forms += [form.int16_form for form in forms if hasattr(form, "int16_form")]
    return list({form.name + str(form.row_step): form for form in forms if form is not None}.values())


def function_of(ins: Any, use: Use, expected: list[np.ndarray]) -> Any:
    """PrimFunc of buffers, vectors, one output: the results one behind the other, as bytes."""
    arrays = [*use.buffers, *use.vectors]
    size = sum(array.nbytes for array in expected)
    parameters = {f"x{i}": (array.shape, str(array.dtype)) for i, array in enumerate(arrays)}
    with FunctionBuilder("kernel", parameters | {"y": ((size,), "uint8")}) as function:
        *flat, _ = [flatten_buffer(buffer) for buffer in function.buffers]
        buffers, sources = flat[: len(use.buffers)], flat[len(use.buffers) :]
        vectors = [
            load(source, 0, vector_type(str(array.dtype), array.size))
            for source, array in zip(sources, use.vectors, strict=True)
        ]
        begin = 0
        for result, array in zip(use.apply(getattr(ins, use.name), buffers, vectors), expected, strict=True):
            place = flatten_buffer(function.buffers[-1], "uint8")
            bits = tvm.tirx.reinterpret(vector_type("uint8", array.nbytes), result)
            store(place, begin, bits, array.nbytes)
            begin += array.nbytes
    return function.prim_func


def differing(name: str, found: np.ndarray, expected: list[np.ndarray]) -> bool:
    """True where the bytes differ; a number beyond +-2^30 may be any such number where floats are saturated."""
    if name == "to_int32_saturated":
        found = np.clip(found.view(np.int32), -(2**30), 2**30).astype(np.int32).view(np.uint8)
    return not np.array_equal(found, np.concatenate([array.view(np.uint8) for array in expected]))


def cases_of(level: str) -> list[tuple[str, Any, Use, list[np.ndarray]]]:
    """(title, instructions, use, results by definition) of all forms of a level."""
    return [
        (f"{ins.name}.{use.name}{use.extra}", ins, use, use.apply(
            lambda *operands, ins=ins, use=use: definition_of(ins, use.name)(ins, *operands), use.buffers, use.vectors
        ))
        for ins in forms_of(level)
        for use in uses_of(ins)
    ]  # fmt: skip


@pytest.mark.parametrize("level", LEVELS)
def test_instructions_compute_their_definitions(level: str) -> None:
    cases = cases_of(level)
    functions = {
        f"case_{i}": function_of(ins, use, expected).with_attr("global_symbol", f"case_{i}")
        for i, (_, ins, use, expected) in enumerate(cases)
    }
    with tvm.transform.PassContext(**OPTIONS):
        compiled = tvm.compile(tvm.IRModule(functions), {"kind": "llvm", "mcpu": CPUS[level], **OPT_LEVEL})
    wrong = []
    for name, (title, _, use, expected) in zip(functions, cases, strict=True):
        output = GuardedOutput((sum(array.nbytes for array in expected),), "uint8")
        tensors = [tvm.runtime.tensor(array) for array in (*use.buffers, *use.vectors)]
        compiled[name](*tensors, tvm_ffi.from_dlpack(output.array))
        wrong += [title] if differing(use.name, output.result(), expected) else []
    assert not wrong


@arm.needs_arm
@pytest.mark.parametrize("level", arm.CPUS)
def test_instructions_of_arm_compute_their_definitions(level: str, tmp_path: Path) -> None:
    cases = cases_of(level)
    functions = [function_of(ins, use, expected) for _, ins, use, expected in cases]
    inputs = [[*use.buffers, *use.vectors] for _, _, use, _ in cases]
    outputs = [np.zeros(sum(array.nbytes for array in expected), np.uint8) for *_, expected in cases]
    found = arm.run_on_arm(functions, inputs, outputs, tmp_path, level)
    pairs = zip(cases, found, strict=True)
    assert not [title for (title, _, use, expected), bits in pairs if differing(use.name, bits, expected)]


@pytest.mark.parametrize("level", isa.LEVELS)
def test_every_instruction_has_a_definition_and_a_use(level: str) -> None:
    for ins in forms_of(level):
        methods = {
            name for name, _ in inspect.getmembers(type(ins), inspect.isfunction) if not name.startswith("_")
        } - FACTS
        used = {use.name for use in uses_of(ins)}
        methods -= set() if is_dot_used(ins) else {"dot"}
        methods -= {"broadcast"} if ins.row_step == 2 else set()
        methods -= set() if ins.has_dot_int16 else {"dot_int16"}
        assert methods <= used, (ins.name, methods - used)
        assert all(definition_of(ins, name) for name in used)
    assert isinstance(ins, Instructions)
