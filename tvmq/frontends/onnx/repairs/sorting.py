"""TopK of element types that TVM's sort lacks."""

from __future__ import annotations

from tvm import relax

from tvmq.frontends.onnx.repairs.node import NodeCall

SORTABLE = ("float64", "float32", "int64", "int32")


def top_k(call: NodeCall) -> relax.Expr | None:
    """TopK of small integers is computed in int32 (uint32: int64)."""
    dtype = call.dtype()
    k = call.constant(1)
    if k is None:
        raise call.unsupported("k is computed", "export it with a constant k")
    size = call.shape()[call.axis(-1)]
    if int(k.item()) < 1 or (isinstance(size, int) and int(k.item()) > size):
        raise call.unsupported(f"k is {int(k.item())}, the axis holds {size}", f"take 1 to {size} of them")
    if dtype in SORTABLE:
        return None
    if dtype == "uint64" or not dtype.startswith(("int", "uint")):
        raise call.unsupported(f"element type {dtype}", "cast to float32 or int64 before it")
    wide = relax.op.astype(call.inputs[0], "int64" if dtype == "uint32" else "int32")
    largest = bool(call.attributes.get("largest", 1))
    both = call.builder.emit(relax.op.topk(wide, int(k.item()), call.axis(-1), "both", largest, "int64"))
    return relax.Tuple([relax.op.astype(relax.TupleGetItem(both, 0), dtype), relax.TupleGetItem(both, 1)])
