"""NAME.onnx: a model of one node, which onnxruntime computes by the operator of a library, onnxruntime.c.

Tests: tests/library/test_onnxruntime_operator.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.errors import BuildError
from tvmq.library.interface import Interface
from tvmq.version import __version__

if TYPE_CHECKING:
    import onnx

DOMAIN_VERSION = 1
IR_VERSION = 8  # of the file: read by all versions of onnxruntime that take the operator
TASKS = 8  # parts of a parallel loop, which the threads of a session share
# Types for which onnxruntime.c has numbers
TYPES = (
    "bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip


def operator_file(interface: Interface) -> bytes:
    """The file; equal interfaces give equal bytes.

    raises   BuildError for a tensor of a type that onnxruntime has not
    """
    from onnx import helper

    domain = f"tvmq.{interface.name}"  # a session takes a domain of one library alone
    inputs = _declare(interface.inputs, set())
    outputs = _declare(interface.outputs, {value.name for value in inputs})
    node = helper.make_node(
        interface.name,
        [value.name for value in inputs],
        [value.name for value in outputs],
        name=interface.name,
        domain=domain,
        model_hash=interface.model_hash,
        tasks=TASKS,
    )
    text = f"Computed by lib{interface.name}.so of tvmq export-library: register it as a library of custom operators"
    graph = helper.make_graph([node], interface.name, inputs, outputs, doc_string=text)
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid(domain, DOMAIN_VERSION)],
        ir_version=IR_VERSION,
        producer_name="tvmq",
        producer_version=__version__,
    )
    return bytes(model.SerializeToString(deterministic=True))


def _declare(tensors: Sequence[Mapping[str, Any]], known: set[str]) -> list[onnx.ValueInfoProto]:
    """Tensors as values of a graph; known: names of values, each of which is one value's."""
    from onnx import helper

    values = []
    for tensor in tensors:
        if tensor["dtype"] not in TYPES:
            raise BuildError(
                f"export_library: '{tensor['name']}' is of type {tensor['dtype']}, which no operator of onnxruntime "
                f"takes; export the library without it, or convert it to one of {', '.join(TYPES)}"
            )
        dtype = helper.np_dtype_to_tensor_dtype(np.dtype(tensor["dtype"]))
        name = next(name for name in _names(tensor["name"]) if name not in known)
        known.add(name)
        values.append(helper.make_tensor_value_info(name, dtype, tensor["shape"], _encoding(tensor)))
    return values


def _names(name: str) -> Iterator[str]:
    """The name, name_1, name_2 and so on."""
    yield name
    yield from (f"{name}_{number}" for number in count(1))


def _encoding(tensor: Mapping[str, Any]) -> str:
    """Text that says how codes become numbers.

    >>> _encoding({"scale": 0.5, "zero_point": -3}), _encoding({"scale": None})
    ('real = (code - -3) * 0.5', '')
    """
    scale, zero_point = tensor.get("scale"), tensor.get("zero_point") or 0
    return "" if scale is None else f"real = (code - {zero_point}) * {scale}"
