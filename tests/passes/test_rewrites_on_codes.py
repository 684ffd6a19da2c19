"""Rewrites on codes, proved by counting: both sides give the same for all 2^8 codes, all 2^16 pairs of two operands or
codes of int16, and random numbers of wider types. Each row of a table is a rewrite; the definition runs both sides."""

from __future__ import annotations

import importlib
import pkgutil
from itertools import product

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import relax

import tvmq.codegen.lower
import tvmq.passes
from tests.support.models.networks import block
from tvmq import numerics
from tvmq.codegen.lower.early_codes import codes_early
from tvmq.graph.patterns.pattern import AnyOf, ConstNode, Item, OperatorNode, PatternNode, nodes
from tvmq.graph.patterns.rules import RewriteRule, RewriteRules
from tvmq.graph.rewrite import rewrite
from tvmq.graph.view import View, op_name, shape_of
from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.passes import OPS, load
from tvmq.passes.families.base import Codes, Group
from tvmq.passes.import_qdq.pairs import Pairs
from tvmq.passes.realize import code_bounds

RANDOM = np.random.default_rng(36)
SCALES = np.float32([0.5, 0.1, 1 / 3, 2**-20, 3e4])


def all_codes(dtype: str) -> np.ndarray:
    """All values of a type of at most 16 bits, and 2^16 random ones with both ends of a wider one."""
    limits = np.iinfo(dtype)
    if limits.bits <= 16:
        return np.arange(limits.min, limits.max + 1, dtype=dtype)
    ends = np.array([limits.min, limits.min + 1, -1, 0, 1, limits.max], dtype)
    return np.concatenate([ends, RANDOM.integers(limits.min, limits.max, 2**16 - 6, dtype, endpoint=True)])


def assert_equal_results(before: tvm.IRModule, after: tvm.IRModule, *inputs: np.ndarray) -> None:
    assert not tvm_ffi.structural_equal(before, after), "nothing was rewritten: the row proves nothing"
    for expected, result in zip(
        tvmq.reference.run(before, list(inputs)), tvmq.reference.run(after, list(inputs)), strict=True
    ):
        assert expected.dtype == result.dtype
        np.testing.assert_array_equal(result, expected)


# ---- rows of rewrites: those that hold for every element type, each alone; integers wrap on both sides


def rows() -> dict[str, RewriteRule]:
    """All rows of all tables of passes and of lowering that rewrite codes too."""
    tables: list[RewriteRules] = []
    for package in (tvmq.passes, tvmq.codegen.lower):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            values = vars(importlib.import_module(module.name)).values()
            tables += [value for value in values if isinstance(value, RewriteRules)]
    return {rule.pattern: rule for table in tables for rule in table if not rule.dtype}


def alternatives(node: PatternNode) -> list[PatternNode]:
    return alternatives(node.left) + alternatives(node.right) if isinstance(node, AnyOf) else [node]


def script_of(node: PatternNode, attribute: str) -> str:
    """A pattern as TVMScript; `attribute` is what its operator needs besides."""
    if isinstance(node, OperatorNode):
        return f"R.{node.name}({', '.join([script_of(arg, attribute) for arg in node.args or ()])}{attribute})"
    return f"{script_of(node.inner, attribute)}[{node.index}]" if isinstance(node, Item) else node.label


ROWS = rows()
ATTRIBUTES = {"part := split(x)": ", 1", "nn.dropout(x)[0]": ", 0.5"}
PLACES = [(pattern, place) for pattern, row in ROWS.items() for place in range(len(alternatives(row.node)))]
# what a constant is, where that is not all codes: beside a row of all codes, one for each case
CONSTANTS = {"condition": [np.array([[True]]), np.array([[False]])]}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize(("pattern", "place"), PLACES)
def test_rows_on_codes(pattern: str, place: int, dtype: str) -> None:
    """Variables are rows of all codes, constants columns of all or of sixteen."""
    row, node = ROWS[pattern], alternatives(ROWS[pattern].node)[place]
    codes = all_codes(dtype)
    columns = (codes if codes.size == 256 else RANDOM.permutation(codes)[:16])[:, None]
    leaves = {part.label: part for part in nodes(node) if not part.parts}
    variables = [name for name, part in leaves.items() if not isinstance(part, ConstNode)]
    inputs = [codes[None], *(RANDOM.permutation(codes)[None] for _ in variables[1:])]
    signature = ", ".join(f'{name}: R.Tensor((1, {codes.size}), "{dtype}")' for name in variables)
    for cases in product(*(CONSTANTS.get(name, [columns]) for name in leaves if name not in variables)):
        constants = dict(zip([name for name in leaves if name not in variables], cases, strict=True))
        declared = [f'{n}: R.Tensor({c.shape}, "{c.dtype}")' for n, c in constants.items()]
        height = max([1, *(constant.shape[0] for constant in constants.values())])
        result = f'({height}, {codes.size}), "{dtype}"'
        body = f"result = {script_of(node, ATTRIBUTES.get(pattern, ''))}"
        before = block(", ".join([signature, *declared]), body, result, **constants)
        after = rewrite(before, RewriteRules(row).visit)
        assert_equal_results(before, after, *inputs)


# ---- codes_early: quantize goes in front of what moves or compares numbers

MOVES = [
    ("y = R.concat((f, g), axis=1)", (2, 2, 16, 16)),
    ("y = R.nn.max_pool2d(f, pool_size=[3, 3], padding=[1, 1, 1, 1])", (2, 1, 16, 16)),
    ("y = R.nn.max_pool2d(f, pool_size=[2, 2], strides=[2, 2])", (2, 1, 8, 8)),
    (
        'y = R.image.resize2d(f, R.shape([32, 32]), layout="NCHW", method="nearest_neighbor", '
        'coordinate_transformation_mode="asymmetric", rounding_method="floor")',
        (2, 1, 32, 32),
    ),
]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("move", "shape"), MOVES)
def test_quantize_goes_ahead_of_moves(move: str, shape: tuple[int, ...], scale: np.float32) -> None:
    """Floats are dequantized int8 codes, all 256 of them in an order without a pattern, to codes of another scale."""
    zero, zeros = np.int32(0), np.int32(3)
    body = f"""f = R.tvmq.dequantize(q, s, z)
g = R.nn.relu(f)
{move}
c = R.tvmq.quantize(y, t, u, dtype="uint8", qmin=0, qmax=255)"""
    signature = 'q: R.Tensor((2, 1, 16, 16), "int8")'
    for name, dtype in (("s", "float32"), ("z", "int32"), ("t", "float32"), ("u", "int32")):
        signature += f', {name}: R.Tensor((), "{dtype}")'
    for factor in np.float32([0.4, 1, 1.7]):
        constants = {"s": scale, "z": zero, "t": scale * factor, "u": zeros}
        before = block(signature, body, f'{shape}, "uint8"', **constants)
        codes = np.stack([RANDOM.permutation(all_codes("int8")) for _ in range(2)]).reshape(2, 1, 16, 16)
        assert_equal_results(before, codes_early(before), codes)


# ---- import_qdq: what is rounded already keeps its codes


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("dtype", "zero"), [("uint8", 0), ("uint8", 128), ("uint8", 255), ("int8", -128), ("int8", 0)])
def test_a_second_rounding_by_the_same_scale_is_none(dtype: str, zero: int, scale: np.float32) -> None:
    """quantize(dequantize(q)) is q for each of the 256 codes, whatever the zero point."""
    limits = np.iinfo(dtype)
    quantize = f's, z, dtype="{dtype}", qmin={limits.min}, qmax={limits.max})'
    body = f"""a = R.tvmq.quantize(x, {quantize}
p = R.reshape(a, R.shape([16, 16]))
f = R.tvmq.dequantize(p, s, z)
b = R.tvmq.quantize(f, {quantize}
y = R.tvmq.dequantize(b, s, z)"""
    signature = 'x: R.Tensor((256,), "float32"), s: R.Tensor((), "float32"), z: R.Tensor((), "int32")'
    before = block(signature, body, '(16, 16), "float32"', s=scale, z=np.int32(zero))
    floats = ((all_codes(dtype).astype(np.int32) - zero).astype(np.float32) * scale).astype(np.float32)
    after = Pairs(before).run()
    assert sum(op_name(value) == "tvmq.quantize" for _, value in View(after).bindings) == 0
    assert_equal_results(before, after, floats)


# ---- families: decisions on codes are those on real numbers


class OnCodes:
    """The part of a realizer that families of two activations use, in a module whose parameters are the codes."""

    def __init__(self, view: View, qparams: dict[str, QParams]) -> None:
        self.view, self.builder = view, relax.BlockBuilder()
        self.inputs = {
            name: Codes(relax.Var(name, relax.TensorType(shape_of(view.params[name]), q.spec.dtype)), q)
            for name, q in qparams.items()
        }

    def codes(self, name: str) -> Codes:
        return self.inputs[name]

    def emit(self, value: relax.Expr, name: str) -> relax.Var:
        return self.builder.emit(value, name)

    def substitute(self, arg: relax.Expr) -> relax.Expr:
        return arg

    def output_qparams(self, group: Group) -> QParams | None:
        return None

    def rescale(self, part: Codes, common: QParams, group: Group) -> Codes:
        assert part.qparams == common
        return part


def realized_pair(operator: str, result: str, x: QParams, w: QParams) -> tuple[tvm.IRModule, tvm.IRModule]:
    """The operator on the real values of all pairs of codes, and what its family makes of it."""
    floats = block(
        'x: R.Tensor((256, 1), "float32"), w: R.Tensor((1, 256), "float32")', f"y = R.{operator}(x, w)", result
    )
    view = View(floats)
    family, made = load(OPS[operator]), OnCodes(view, {"x": x, "w": w})
    group = family.group(view, view.var["y"], view.value["y"])
    with made.builder.function("main", [codes.var for codes in made.inputs.values()]):
        with made.builder.dataflow():
            codes = family.realize(made, group)
            output = made.builder.emit_output(codes.var if isinstance(codes, Codes) else codes)
        made.builder.emit_func_output(output)
    return floats, made.builder.get()


def reals(codes: np.ndarray, qparams: QParams) -> np.ndarray:
    return numerics.dequantize(codes, qparams.scale, qparams.zero_point)


def exact_reals(codes: np.ndarray, qparams: QParams) -> np.ndarray:
    """Without the rounding to float32, by which reals of two scales may become equal."""
    return (codes.astype(np.int32) - qparams.zero_point) * np.float64(qparams.scale)


def qparams(dtype: str, scale: float, zero: int) -> QParams:
    return QParams(np.float32(scale), np.int32(zero), QuantSpec(dtype), None)


@pytest.mark.parametrize(
    "other", [qparams("uint8", 0.3, 7), qparams("uint8", 1 / 3, 128), qparams("int8", 2**-20, -128)]
)
@pytest.mark.parametrize("operator", ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"])
def test_comparisons_on_codes_are_those_of_the_reals(operator: str, other: QParams) -> None:
    """All 2^16 pairs of codes, of two scales and of one."""
    for one in (qparams("uint8", 1 / 3, 128), qparams("int8", 0.3, 7)):
        _, integers = realized_pair(operator, '(256, 256), "bool"', one, other)
        x, w = all_codes(one.spec.dtype).reshape(-1, 1), all_codes(other.spec.dtype).reshape(1, -1)
        expected = getattr(np, operator)(exact_reals(x, one), exact_reals(w, other))
        (result,) = tvmq.reference.run(integers, [x, w])
        np.testing.assert_array_equal(result, expected)
        assert expected.any() and not expected.all()


@pytest.mark.parametrize("one", [qparams("uint8", 1 / 3, 128), qparams("int8", 2**-20, -128), qparams("int8", 3e4, 7)])
@pytest.mark.parametrize("operator", ["maximum", "minimum"])
def test_choices_on_codes_are_those_of_the_reals(operator: str, one: QParams) -> None:
    """All 2^16 pairs of codes of one scale."""
    floats, integers = realized_pair(operator, '(256, 256), "float32"', one, one)
    x, w = all_codes(one.spec.dtype).reshape(-1, 1), all_codes(one.spec.dtype).reshape(1, -1)
    (expected,) = tvmq.reference.run(floats, [reals(x, one), reals(w, one)])
    (result,) = tvmq.reference.run(integers, [x, w])
    np.testing.assert_array_equal(reals(result, one), expected)


@pytest.mark.parametrize("bounds", [(0.0, 1.25), (-0.5, 0.5), (-7.0, 0.0), (0.0, np.inf), (-np.inf, 0.3)])
@pytest.mark.parametrize("mode", ["float", "power_of_two"])
def test_a_clip_of_codes_is_that_of_the_reals(mode: str, bounds: tuple[float, float]) -> None:
    """Bounds of a requantize in place of a clip behind it, for each sum in -2^15..2^15 and random ones of int32."""
    known = qparams("uint8", 1 / 64, 100)
    low, high = code_bounds(known, *bounds)
    ends = [float(np.float32((code - 100) * known.scale)) for code in (low, high)]
    constants = {"m": np.float32(0.0123), "k": np.int32(-6), "s": known.scale, "z": known.zero_point}
    for acc in (all_codes("int16").astype(np.int32), all_codes("int32")):
        signature = f'acc: R.Tensor(({acc.size},), "int32")'
        for name, dtype in (("m", "float32"), ("k", "int32"), ("s", "float32"), ("z", "int32")):
            signature += f', {name}: R.Tensor((), "{dtype}")'
        call = f'R.tvmq.requantize(acc, m, k, zero_point=100, mode="{mode}", dtype="uint8", qmin={{}}, qmax={{}})'
        separate = f"""q = {call.format(0, 255)}
f = R.tvmq.dequantize(q, s, z)
c = R.clip(f, R.prim_value({ends[0]}), R.prim_value({ends[1]}))
y = R.tvmq.quantize(c, s, z, dtype="uint8", qmin=0, qmax=255)"""
        before, after = (
            block(signature, body, f'({acc.size},), "uint8"', **constants)
            for body in (separate, f"y = {call.format(low, high)}")
        )
        assert_equal_results(before, after, acc)


def test_rescaled_codes_are_those_of_the_reals() -> None:
    """The table that stands for a dequantize and a quantize, for all codes of both."""
    for x, y in [("uint8", "uint8"), ("uint8", "int8"), ("int8", "uint8")]:
        for scale in SCALES:
            one, other = qparams(x, float(scale), 3), qparams(y, float(scale) * 0.7, -5 if y == "int8" else 250)
            codes = all_codes(x)
            expected = numerics.quantize(reals(codes, one), other.scale, other.zero_point, dtype=y)
            table = numerics.rescale_table(one, other)
            result = numerics.table(codes, table)
            np.testing.assert_array_equal(result, expected)


def test_packed_weights_are_unpacked_as_they_were() -> None:
    """All 2^8 pairs of 4-bit codes, which are all bytes."""
    pairs = np.stack(np.meshgrid(np.arange(-8, 8), np.arange(-8, 8)), -1).reshape(256, 2).astype(np.int8)
    packed = numerics.pack_int4(pairs)
    assert np.unique(packed).size == 256
    np.testing.assert_array_equal(numerics.unpack_int4(packed, shape=(256, 2)), pairs)
