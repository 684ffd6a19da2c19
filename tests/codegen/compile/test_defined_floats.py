"""Float operators that count as defined: compiled code gives NumPy's bits for every kind of number.

One IEEE operation is rounded in one way only; what moves or compares numbers rounds nothing. What remains to test are
NaN, infinities, both zeros, denormals and ties, and that nothing is contracted with what follows.
"""

from __future__ import annotations

import numpy as np
import pytest

import tvmq
from tests.graph.op_case import HARD_FLOATS
from tests.support.models.networks import block
from tvmq.codegen.target.cpu import missing_features, resolve_target
from tvmq.graph.evaluate import EXACT
from tvmq.numerics.elementary import ELEMENTARY
from tvmq.reference import Reference
from tvmq.tools.analysis.verification import unequal_bits

RANDOM = np.random.default_rng(0)
VALUES = np.concatenate([HARD_FLOATS, (3 * RANDOM.standard_normal(40)).astype(np.float32)])
A, B = (np.ascontiguousarray(array, np.float32) for array in np.meshgrid(VALUES, VALUES))
SIGNATURE = ", ".join(f'{name}: R.Tensor({A.shape}, "float32")' for name in "ab")
TARGETS = ["llvm", "llvm -mcpu=x86-64", "llvm -mcpu=haswell"]

UNARY = [
    *ELEMENTARY,
    *"nn.relu negative abs sqrt floor ceil round trunc isnan isinf isfinite zeros_like ones_like".split(),
]
BINARY = "add subtract multiply divide maximum minimum".split()
COMPARISONS = "equal not_equal greater greater_equal less less_equal".split()
LOGICAL = "logical_and logical_or logical_xor".split()
MOVES = {
    "clip": "R.clip(a, -1.5, 2.0)",
    "nn.leakyrelu": "R.nn.leakyrelu(a, 0.1)",
    "nn.prelu": "R.nn.prelu(a, R.max(b, axis=[1]), axis=0)",
    "max": "R.max(a, axis=[1])",
    "min": "R.min(a, axis=[0], keepdims=True)",
    "astype": 'R.astype(a, "float64")',
    "where": "R.where(R.less(a, b), a, b)",
    "reshape": f"R.reshape(a, R.shape([{A.size}]))",
    "flatten": "R.flatten(a)",
    "expand_dims": "R.expand_dims(a, axis=1)",
    "squeeze": "R.squeeze(R.expand_dims(a, axis=1), axis=[1])",
    "permute_dims": "R.permute_dims(a)",
    "broadcast_to": f"R.broadcast_to(R.expand_dims(a, axis=0), R.shape([2, {A.shape[0]}, {A.shape[1]}]))",
    "concat": "R.concat((a, b), axis=1)",
    "split": "R.split(a, 8, axis=1)[1]",
    "strided_slice": "R.strided_slice(a, (R.prim_value(1),), (R.prim_value(1),), (R.prim_value(60),), (R.prim_value(3),))",
    "nn.pad": "R.nn.pad(a, pad_width=[1, 2, 0, 3], pad_value=-1.0)",
    "full_like": 'R.full_like(a, R.const(1.5, "float32"))',
    "take": 'R.take(a, R.const([3, 0, 7], "int64"), axis=1)',
    "gather_elements": 'R.gather_elements(a, R.const([[3, -1, 7]], "int64"), axis=1)',
    "tile": "R.tile(a, repeats=[1, 2])",
    "flip": "R.flip(a, axis=1)",
    "stack": "R.stack((a, b), axis=1)",
    "logical_not": "R.logical_not(R.less(a, b))",
}
CALLS = {
    **{name: f"R.{name}(a)" for name in UNARY},
    **{name: f"R.{name}(a, b)" for name in (*BINARY, *COMPARISONS)},
    **{name: f"R.{name}(R.less(a, b), R.isnan(a))" for name in LOGICAL},
    **MOVES,
    "leaky relu without a slope": "R.nn.leakyrelu(a, 0.0)",
    "leaky relu upwards": "R.nn.leakyrelu(a, -0.3)",
    "prelu of one slope": 'R.nn.prelu(a, R.const([0.3], "float32"), axis=1)',
    "prelu of the last axis": "R.nn.prelu(a, R.min(b, axis=[0]), axis=-1)",
    "max of columns": "R.max(a, axis=[0])",
    "max of all": "R.max(a)",
    "min of rows": "R.min(a, axis=[-1])",
    "max of infinities": "R.max(R.divide(R.negative(R.abs(a)), R.subtract(b, b)), axis=[1])",
    "maximum of constant": 'R.maximum(a, R.const(-0.5, "float32"))',
    "minimum of constant": 'R.minimum(a, R.const(-0.0, "float32"))',
    "choice from itself": "R.where(R.equal(a, a), a, b)",
    "less than itself": "R.less(a, a)",
    "less or equal": "R.less_equal(a, a)",
    "maximum of itself": "R.maximum(a, a)",
    "difference of itself": "R.subtract(a, a)",
    "quotient of itself": "R.divide(a, a)",
    "sum and difference": "R.subtract(R.add(a, b), b)",
    "difference and sum": "R.add(R.subtract(a, b), b)",
    "sum of sums": "R.subtract(R.add(a, b), R.add(a, a))",
    "sums of constants": 'R.add(R.add(a, R.const(1.5, "float32")), R.const(0.1, "float32"))',
    "products of constants": 'R.multiply(R.multiply(a, R.const(3.0, "float32")), R.const(0.1, "float32"))',
    "quotient of product": "R.divide(R.multiply(a, b), b)",
    "common factor": "R.add(R.multiply(a, b), R.multiply(a, a))",
    "times zero": 'R.multiply(a, R.const(0.0, "float32"))',
    "plus zero": 'R.add(a, R.const(0.0, "float32"))',
    "minus from zero": 'R.subtract(R.const(0.0, "float32"), a)',
    "maximum of sums": "R.maximum(R.add(a, b), R.add(b, a))",
    "maximum of maximum": "R.maximum(R.maximum(a, b), a)",
    "minimum of maximum": "R.minimum(R.maximum(a, b), b)",
    "comparison of sums": "R.less(R.add(a, b), R.add(a, a))",
    "comparison with constants": 'R.less(R.add(a, R.const(0.1, "float32")), R.const(0.3, "float32"))',
    "clip of clip": "R.clip(R.clip(a, -1.0, 3.0), 0.0, 2.0)",
    "negative difference": "R.negative(R.subtract(a, b))",
    "abs of abs": "R.abs(R.negative(R.abs(a)))",
    "root of square": "R.sqrt(R.multiply(a, a))",
    "floor of round": "R.floor(R.add(R.round(a), R.ceil(b)))",
    "product and sum": "R.add(R.multiply(a, b), a)",
    "product and difference": "R.subtract(a, R.multiply(a, b))",
    "two products": "R.add(R.multiply(a, a), R.multiply(b, b))",
    "moved product": "R.subtract(R.abs(R.permute_dims(R.multiply(a, b))), R.permute_dims(a))",
    "chosen product": "R.add(R.where(R.less(a, b), R.multiply(a, b), a), b)",
    "clipped product": "R.add(R.clip(R.multiply(a, b), -5.0, 5.0), R.nn.relu(R.multiply(b, b)))",
    "summed maximum of products": "R.add(R.max(R.multiply(a, b), axis=[1], keepdims=True), a)",
}


def test_every_defined_operator_is_listed() -> None:
    """Resizes of pictures have tests of their own: tests/codegen/lower/test_lowerer.py."""
    assert {*EXACT} - {*CALLS} <= {"image.resize2d"}


@pytest.fixture(
    scope="module", params=[TARGETS[0], *(pytest.param(target, marks=pytest.mark.slow) for target in TARGETS[1:])]
)
def target(request: pytest.FixtureRequest) -> str:
    """A level of the CPU; skipped where it is missing."""
    if missing_features(resolve_target(request.param).needs):
        pytest.skip(f"this CPU lacks {missing_features(resolve_target(request.param).needs)}")
    return request.param


@pytest.mark.slow_cases("llvm-summed maximum of products", "llvm-nn.prelu")
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", CALLS)
def test_compiled_equals_numpy(name: str, target: str) -> None:
    module = block(SIGNATURE, f"y = {CALLS[name]}")
    reference = Reference(module)
    assert reference.islands == []
    feed = {"a": A, "b": B}
    (expected,), (found,) = reference.run(feed), tvmq.build(module, target).run(feed)
    differing = unequal_bits(found, expected)
    assert not differing.any(), (name, found[differing][:4], expected[differing][:4])
