"""Casts of floats that no integer holds: folded at import, computed in a run, and the definition are one."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import tvmq

VALUES = np.array([-1.9, 300, -np.inf, np.nan, np.inf, 1e20, -1e20, 2.5, 65535.5, 2.0**31, -(2.0**63)], np.float32)
KINDS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


@pytest.mark.slow
def test_casts_of_onnx() -> None:
    """Casts of constants, as the folder computes them, and of an input; Cast and CastLike, all types in one model."""
    nodes, likes = [], []
    for kind in KINDS:
        code = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        likes.append(numpy_helper.from_array(np.zeros((), kind), f"like_{kind}"))
        for source in ("x", "c", "wide"):
            nodes.append(helper.make_node("Cast", [source], [f"{source}_{kind}"], to=code))
            nodes.append(helper.make_node("CastLike", [source, f"like_{kind}"], [f"{source}_like_{kind}"]))
    constants = [numpy_helper.from_array(VALUES, "c"), numpy_helper.from_array(VALUES.astype(np.float64), "wide")]
    inputs = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, VALUES.shape)]
    outputs = [helper.make_empty_tensor_value_info(node.output[0]) for node in nodes]
    graph = helper.make_graph(nodes, "casts", inputs, outputs, [*likes, *constants])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    mod, params = tvmq.from_onnx(proto)
    results = [tvmq.build(mod, params=params).run({"x": VALUES}), tvmq.reference.run(mod, {"x": VALUES, **params})]
    for name, *values in zip((node.output[0] for node in nodes), *results, strict=True):
        expected = tvmq.numerics.cast(VALUES, name.rpartition("_")[2])
        for value in values:
            np.testing.assert_array_equal(value, expected, err_msg=name, strict=True)


def test_casts_of_torch() -> None:
    torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

    class Casts(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
            known = torch.stack([torch.full((), value) for value in VALUES.tolist()])
            kinds = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
            return [cast for kind in kinds for cast in (known.to(kind), x.to(kind))]

    mod, params = tvmq.from_torch(Casts().eval(), (torch.zeros(VALUES.shape),))
    results = tvmq.build(mod, params=params).run({"x": VALUES})
    for value in results:
        np.testing.assert_array_equal(value, tvmq.numerics.cast(VALUES, value.dtype))
