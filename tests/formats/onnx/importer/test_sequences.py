"""Sequences of tensors that are known at import, beside NumPy; others are refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest

import tvmq
from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx

X, Z = (np.random.default_rng(seed).standard_normal((2, 7)).astype(np.float32) for seed in (0, 1))
NUMBERS = "".join(f"{name} = Constant <value = int64 {{{value}}}> ()\n" for name, value in (
    ("zero", 0), ("one", 1), ("two", 2), ("three", 3), ("last", -1), ("second_to_last", -2),
)) + "sizes = Constant <value = int64[3] {2, 4, 1}> ()\n"  # fmt: skip
CASES: dict[str, tuple[str, Callable[[], np.ndarray]]] = {
    "sizes": ("s = SplitToSequence <axis = 1> (x, sizes) y = SequenceAt (s, one)", lambda: X[:, 2:6]),
    "one size": ("s = SplitToSequence <axis = -1> (x, three) y = SequenceAt (s, last)", lambda: X[:, 6:]),
    "slices": ("s = SplitToSequence <axis = 1> (x) y = SequenceAt (s, three)", lambda: X[:, 3:4]),
    "squeezed": ("s = SplitToSequence <keepdims = 0> (x) y = SequenceAt (s, one)", lambda: X[1]),
    "kept with sizes": ("s = SplitToSequence <axis = 1, keepdims = 0> (x, one) y = SequenceAt (s, two)", lambda: X[:, 2:3]),
    "construct": ("s = SequenceConstruct (x, z, x) y = SequenceAt (s, second_to_last)", lambda: Z),
    "concat": ("s = SequenceConstruct (x, z) y = ConcatFromSequence <axis = 0> (s)", lambda: np.concatenate([X, Z])),
    "stack": (
        "s = SequenceConstruct (x, z) y = ConcatFromSequence <axis = -1, new_axis = 1> (s)", lambda: np.stack([X, Z], -1)
    ),
    "insert": (
        "s = SequenceConstruct (x, x) t = SequenceInsert (s, z, last) y = ConcatFromSequence <axis = 0> (t)",
        lambda: np.concatenate([X, Z, X]),
    ),
    "append": (
        "s = SequenceEmpty () t = SequenceInsert (s, x) u = SequenceInsert (t, z) y = ConcatFromSequence <axis = 0> (u)",
        lambda: np.concatenate([X, Z]),
    ),
    "erase": ("s = SequenceConstruct (x, z) t = SequenceErase (s, zero) y = SequenceAt (t, zero)", lambda: Z),
    "erase the last": ("s = SequenceConstruct (x, z) t = SequenceErase (s) y = SequenceAt (t, last)", lambda: X),
    "length": (
        "s = SplitToSequence <axis = 1> (x, two) n = SequenceLength (s) m = Cast <to = 1> (n) y = Mul (x, m)", lambda: X * 4
    ),
    "computed position": (
        "s = SplitToSequence <axis = 1> (x, two) n = SequenceLength (s) i = Sub (n, one) y = SequenceAt (s, i)",
        lambda: X[:, 6:],
    ),
}  # fmt: skip


def model(text: str, opset: int = 18, inputs: str = "float[2, 7] x, float[2, 7] z") -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({inputs}) => (float[a, b] y) {{ {NUMBERS} {text} }}'
    )


@pytest.mark.parametrize("case", CASES)
def test_known_sequences_are_their_tensors(case: str) -> None:
    text, wanted = CASES[case]
    for opset in (11, 18):
        proto = model(text, opset)
        del proto.graph.output[0].type.tensor_type.shape.dim[:]
        mod, params = from_onnx(proto)
        result = tvmq.build(mod, params=params).run({"x": X, "z": Z})[0]
        np.testing.assert_array_equal(result, wanted())


@pytest.mark.parametrize(("text", "inputs", "words"), [
    ("s = SequenceConstruct (x, z) y = SequenceAt (s, two)", "float[2, 7] x, float[2, 7] z",
     "SequenceAt: position 2 lies outside of a sequence of 2; correct it"),
    ("s = SplitToSequence (x, zero) y = SequenceAt (s, one)", "float[2, 7] x",
     "SplitToSequence: parts of size 0 of a dimension of size 2; split it into 1 to 10000 parts"),
    ("s = SequenceConstruct (x, x) y = SequenceAt (s, i)", "float[2, 7] x, int64 i",
     "SequenceConstruct: optional values are not supported, nor are sequences that are outputs"),
    ("s = SplitToSequence <axis = 1> (x, two) y = SequenceAt (s, one)", "float[2, N] x", "SplitToSequence: optional values"),
])  # fmt: skip
def test_sequences_that_are_not_known_are_refused(text: str, inputs: str, words: str) -> None:
    with pytest.raises(UnsupportedOpError, match=words):
        from_onnx(model(text, inputs=inputs))
