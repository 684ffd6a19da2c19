"""Long dataflow blocks as several shorter ones, before TVM's FuseOps.

FuseOps follows the paths from an operator to the one where they meet again, by recursion in C++: in a GRU of 1,000
steps the state that every step gives meets the others in the last concat, 12,000 calls further, and the stack is at its
end. Paths end with their block. One operator stands between two blocks, outside of both, or TVM would join them again;
it is fused with nothing.
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.graph.rewrite import replace_variables
from tvmq.graph.view import used_vars

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
