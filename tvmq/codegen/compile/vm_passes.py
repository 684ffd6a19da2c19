"""Passes over the lowered Relax module, before and after those of TVM.

Long dataflow blocks as several shorter ones, before TVM's FuseOps.

FuseOps follows the paths from an operator to the one where they meet again, by recursion in C++: in a GRU of 1,000
steps the state that every step gives meets the others in the last concat, 12,000 calls further, and the stack is at its
end. Paths end with their block. One operator stands between two blocks, outside of both, or TVM would join them again;
it is fused with nothing.

Functions that compute dynamic sizes, in a fixed order: equal modules give equal code.

TVM puts what it has to compute for a shape (`relax.transform.VMShapeLower`) into a function of stores, one a number,
and walks a hash table of addresses for it: their order is another one in every process.

Which inputs main can read where they are: those that only kernels read which take memory of any alignment.

TVM's functions read memory that begins at multiples of 64 bytes, NumPy's hardly ever does: inputs are copied. The
kernels that read pictures first (quantize, changes of layout) take any address, so that large inputs need no copy.
"""

from __future__ import annotations

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.ir.expr import TensorLoad

from tvmq.base.tvm_internals import HOST_FUNCTION
from tvmq.codegen.compile.fused_origins import bindings
from tvmq.codegen.schedule.accesses import walk
from tvmq.graph.rewrite import replace_variables
from tvmq.graph.view import dtype_of, leaves, op_name, used_vars

MOST = 4000  # bindings; a level of the recursion takes about 650 bytes of the stack, which has 8 MB

Binding = tuple[relax.Var, relax.Expr]


def cut_dataflow_blocks(mod: tvm.IRModule, most: int = MOST) -> tvm.IRModule:
    """The module with dataflow blocks of at most so many bindings; the same one where none is longer."""
    result = mod
    for gvar, func in mod.functions_items():
        if isinstance(func, relax.Function) and isinstance(func.body, relax.SeqExpr):
            blocks = func.body.blocks
            if any(isinstance(block, relax.DataflowBlock) and len(block.bindings) > most for block in blocks):
                result = result.clone() if result is mod else result
                result.update_func(gvar, _with_shorter_blocks(func, most))
    return result


def _with_shorter_blocks(func: relax.Function, most: int) -> relax.Function:
    bound: dict[str, relax.Expr] = {}  # variables that other blocks read are those of no block
    blocks: list[relax.BindingBlock] = []
    for block in func.body.blocks:
        if not isinstance(block, relax.DataflowBlock):
            blocks.append(block)
            continue
        pieces = _pieces(block, most)
        last = {name: number for number, piece in enumerate(pieces) for _, value in piece for name in used_vars(value)}
        for number, piece in enumerate(pieces):
            is_between = number % 2 == 1
            for var, _ in piece:
                if isinstance(var, relax.DataflowVar) and (is_between or last.get(var.name, number) > number):
                    bound[var.name] = relax.Var(var.name, var.ty)
            bindings = [
                relax.VarBinding(bound.get(var.name, var), replace_variables(value, bound)) for var, value in piece
            ]
            blocks.append(relax.BindingBlock(bindings) if is_between else relax.DataflowBlock(bindings))
    body = relax.BlockBuilder().normalize(relax.SeqExpr(blocks, replace_variables(func.body.body, bound)))
    return relax.Function(func.params, body, func.ret_ty, func.is_pure, func.attrs)


def _pieces(block: relax.DataflowBlock, most: int) -> list[list[Binding]]:
    """Bindings of a block, of one operator behind it, of a block and so on."""
    bindings = [(binding.var, binding.value) for binding in block.bindings]
    starts = range(0, len(bindings), most + 1)
    return [piece for i in starts for piece in (bindings[i : i + most], bindings[i + most : i + most + 1]) if piece]


def with_ordered_stores(mod: tvm.IRModule) -> tvm.IRModule:
    """The module whose shape functions store their numbers in the order of their places."""
    ordered = mod.clone()
    for gvar, func in mod.functions_items():
        if (
            isinstance(func, tirx.PrimFunc)
            and HOST_FUNCTION in (func.attrs or {})
            and isinstance(func.body, tirx.SeqStmt)
        ):
            ordered.update_func(gvar, func.with_body(_order_stores(func.body)))
    return ordered


def _order_stores(body: tirx.SeqStmt) -> tirx.SeqStmt:
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


def unaligned_inputs(mod: tvm.IRModule, function: str = "main") -> list[int]:
    """Numbers of the inputs of main, if there is one, in a module whose operators are calls of functions of loops."""
    if all(gvar.name_hint != function for gvar in mod.get_global_vars()):
        return []
    main = mod[function]
    seen = {param.name: index for index, param in enumerate(main.params)}
    unaligned = set(seen.values())
    for var, value in bindings(main):
        read = [seen[name] for name in used_vars(value) if name in seen]
        if read and (isinstance(value, relax.Var) or op_name(value) == "reshape"):
            seen[var.name] = read[0]
        elif read:
            unaligned -= set(read) - _inputs_at_any_address(mod, value, seen)
    return sorted(unaligned - {seen[leaf.name] for leaf in leaves(main.body.body) if leaf.name in seen})


def _inputs_at_any_address(mod: tvm.IRModule, value: relax.Expr, seen: dict[str, int]) -> set[int]:
    """Inputs that a call takes at any address."""
    if op_name(value) != "call_tir":
        return set()
    params, args = mod[value.args[0]].params, value.args[1].fields
    pairs = [(param, arg) for param, arg in zip(params, args, strict=False) if getattr(arg, "name", None) in seen]
    wrong = {seen[arg.name] for param, arg in pairs if not _any_address(param, arg)}
    return {seen[arg.name] for _, arg in pairs} - wrong


def _any_address(param: tvm.tirx.Var, arg: relax.Expr) -> bool:
    alignment = getattr(param.ty, "data_alignment", None)
    return alignment is not None and int(alignment) <= np.dtype(dtype_of(arg)).itemsize
