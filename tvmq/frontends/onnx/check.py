"""What cannot be imported from ONNX, and the sentences that say so."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from tvmq.errors import UnsupportedOpError

if TYPE_CHECKING:
    import onnx

DOMAINS = frozenset({"", "ai.onnx", "com.microsoft"})
ELEMENT_TYPES = frozenset("BOOL INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 FLOAT16 FLOAT DOUBLE".split())

_REASONS = {
    "If Loop": (
        "control flow that depends on values of the run is not supported; fix the input shapes with shape= if it "
        "depends on them, or export the model without it, for example by tracing with fixed inputs"
    ),
    "Scan SequenceMap": (
        "control flow is not supported; export the model without it, for example by tracing with fixed inputs"
    ),
    "Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty SequenceErase "
    "SequenceInsert SequenceLength ConcatFromSequence SplitToSequence": (
        "sequences and optional values are not supported; export the model with tensors only"
    ),
    "AllClassNMS Compress NonMaxSuppression NonZero Unique": (
        "its result's shape depends on values; leave it out of the graph and run it after the network"
    ),
}
REFUSED = {op_type: reason for op_types, reason in _REASONS.items() for op_type in op_types.split()}


def refuse_unknown(nodes: Iterable[onnx.NodeProto], imported: Collection[str]) -> None:
    """Raise UnsupportedOpError for the first node that has no import; the message lists the other operators.

    imported   operators that a converter or a repair imports
    """
    unknown = []
    for node in nodes:
        if node.op_type in REFUSED:
            raise UnsupportedOpError(f"from_onnx, layer '{node.name}': {node.op_type}: {REFUSED[node.op_type]}")
        if node.op_type not in imported or node.domain not in DOMAINS:
            unknown.append((f"{node.domain}.{node.op_type}".lstrip("."), node.name))
    if not unknown:
        return
    op_type, name = unknown[0]
    others = sorted({other for other, _ in unknown} - {op_type})
    more = f" (nor are {', '.join(others)})" if others else ""
    raise UnsupportedOpError(
        f"from_onnx, layer '{name}': operator {op_type} is not supported{more}; "
        "export the model with simpler operators, or leave this part out of the graph"
    )


def element_type(code: int, what: str) -> str:
    """NumPy's name of an ONNX element type; `what` has it, for the message.

    raises UnsupportedOpError for text, complex numbers, 8-bit floats and types below 8 bits.
    """
    from onnx import TensorProto, helper

    name = TensorProto.DataType.Name(code)
    if name not in ELEMENT_TYPES:
        raise UnsupportedOpError(
            f"from_onnx, {what}: element type {name.lower()} is not supported; export the model in float32"
        )
    return str(helper.tensor_dtype_to_np_dtype(code))
