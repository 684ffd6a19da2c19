"""Functions that compute free sizes, in a fixed order: equal modules give equal code.

TVM puts what it has to compute for a shape (`relax.transform.VMShapeLower`) into a function of stores, one a number,
and walks a hash table of addresses for it: their order is another one in every process.
"""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.ir.expr import TensorLoad

from tvmq.schedule.accesses import walk
from tvmq.tvm_internals import HOST_FUNCTION


def with_ordered_stores(mod: tvm.IRModule) -> tvm.IRModule:
    """The module whose shape functions store their numbers in the order of their places."""
    ordered = mod.clone()
    for gvar, func in mod.functions_items():
        if (
            isinstance(func, tirx.PrimFunc)
            and HOST_FUNCTION in (func.attrs or {})
            and isinstance(func.body, tirx.SeqStmt)
        ):
            ordered.update_func(gvar, func.with_body(_ordered(func.body)))
    return ordered


def _ordered(body: tirx.SeqStmt) -> tirx.SeqStmt:
    """Stores by their places; as they are where one could read what another one writes."""
    stores = list(body.seq)
    if not all(isinstance(store, tirx.BufferStore) and len(store.indices) == 1 for store in stores):
        return body
    written = {int(store.indices[0]) for store in stores}
    loads = (node for store in stores for node in walk(store.value) if isinstance(node, TensorLoad))
    read = {int(load.indices[0]) for load in loads}
    if len(written) < len(stores) or written & read:
        return body
    return tirx.SeqStmt(sorted(stores, key=lambda store: int(store.indices[0])))
