"""Modules on which the user ran FuseOpsByPattern: the functions that it made are written out in main again.

Those with the attribute "Codegen" are remembered, for the code generator that they name; the others (Composite alone)
ask for nothing, and get tvmq's kernels.

Before                                            After
    y = fused_conv_add(x)                             a = nn.conv2d(x, w)
                                                      y = add(a, bias)

Tests: tests/codegen/custom_lowering/test_generators.py
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax

from tvmq.codegen.custom_lowering.lowering import Codegen, Lowering
from tvmq.errors import BuildError
from tvmq.graph.module_functions import PARTS, called_function
from tvmq.graph.names import UniqueNames, get_names, with_names
from tvmq.graph.rewrite import build_function, replace_variables

Binding = tuple[relax.Var, relax.Expr]


def write_out(mod: tvm.IRModule) -> tuple[tvm.IRModule, list[tuple[Lowering, tuple[str, ...]]]]:
    """The module in one function main; and (generator, variables that its code computes) of each call of such code.

    The module itself where main calls no functions of Relax (but those of a module in four functions).
    raises   BuildError for functions that call themselves
    """
    functions = {var.name_hint: func for var, func in mod.functions_items() if isinstance(func, relax.Function)}
    main = functions.get("main")
    inner = {name: func for name, func in functions.items() if name not in (*PARTS, "main")}
    if not inner or main is None or not isinstance(main.body, relax.SeqExpr):
        return mod, []
    inlined = _InlinedMain(main, inner)
    module = tvm.IRModule(
        {var: func for var, func in mod.functions_items() if var.name_hint not in (*inner, "main")}, attrs=mod.attrs
    )
    module["main"] = inlined.function
    return module, inlined.generated


class _InlinedMain:
    """Main with the bodies of all functions that it calls."""

    def __init__(self, main: relax.Function, functions: dict[str, relax.Function]) -> None:
        self.functions = functions
        self.bindings: list[Binding] = []
        self.generated: list[tuple[Lowering, tuple[str, ...]]] = []
        self.names = {name: sources for name, sources in get_names(main).items()}
        bound = [binding.var.name for block in main.body.blocks for binding in block.bindings]
        self.unique = UniqueNames([*(param.name for param in main.params), *bound])
        self.results: list[str] = []  # of calls
        self._active: list[str] = []
        known: dict[str, relax.Expr] = {}
        self._walk(main, known, outermost=True)
        result = replace_variables(main.body.body, known)
        function = build_function(list(main.params), self.bindings, result, main)
        self.function = with_names(self._restore_names(function), self.names)

    def _restore_names(self, function: relax.Function) -> relax.Function:
        """The function whose results of calls have their old names again, which TVM has dropped.

        The old names that no variable has, in their order, where they are as many as the results.
        """
        known = {var.name for var, _ in self.bindings} | {param.name for param in function.params}
        lost = [name for name in self.names if name not in known]
        self.names = {name: sources for name, sources in self.names.items() if name in known or name in lost}
        unnamed = [name for name in self.results if name not in self.names]
        if len(lost) != len(unnamed):
            return function
        table = dict(zip(unnamed, lost, strict=True))
        self.generated = [(one, tuple(table.get(name, name) for name in members)) for one, members in self.generated]
        renamed: dict[str, relax.Expr] = {}
        bindings = []
        for binding in (binding for block in function.body.blocks for binding in block.bindings):
            var = binding.var
            if var.name in table:
                var = type(var)(table[var.name], var.ty)
                renamed[binding.var.name] = var
            bindings.append((var, replace_variables(binding.value, renamed)))
        return build_function(list(function.params), bindings, replace_variables(function.body.body, renamed), function)

    def _walk(self, func: relax.Function, known: dict[str, relax.Expr], *, outermost: bool = False) -> None:
        """Append the bindings of a function; `known` says what its variables have become."""
        local: dict[str, relax.Function] = {}
        for block in func.body.blocks:
            for binding in block.bindings:
                var, value = binding.var, binding.value
                if isinstance(value, relax.Function):
                    local[var.name] = value
                    continue
                value = replace_variables(value, known)
                called = self._callee(value, local)
                if called is not None:
                    value = self._open(called, list(value.args), var.name)
                if isinstance(value, relax.Call | relax.TupleGetItem):
                    name = var.name if outermost else self.unique(var.name)
                    new = relax.DataflowVar(name, var.ty)
                    self.bindings.append((new, value))
                    value = new
                known[var.name] = value

    def _callee(self, value: relax.Expr, local: dict[str, relax.Function]) -> relax.Function | None:
        name = called_function(value)
        if name in self.functions:
            return self.functions[name]
        is_local = isinstance(value, relax.Call) and isinstance(value.op, relax.Var)
        return local.get(value.op.name) if is_local else None

    def _open(self, func: relax.Function, args: list[relax.Expr], result: str) -> relax.Expr:
        """Append the bindings of a called function; its result."""
        symbol = str((func.attrs or {}).get("global_symbol", result))
        if symbol in self._active:
            raise BuildError(f"build: function '{symbol}' calls itself; write the model without recursion")
        self._active.append(symbol)
        begin = len(self.bindings)
        known = {param.name: arg for param, arg in zip(func.params, args, strict=True)}
        self._walk(func, known)
        value = replace_variables(func.body.body, known)
        if isinstance(value, relax.Var) and value.name not in self.results:
            self.results.append(value.name)
        self._active.pop()
        generator = (func.attrs or {}).get("Codegen")
        if generator is not None:
            members = [var.name for var, _ in self.bindings[begin:]]
            self.generated.append((_lowering(func, str(generator)), tuple(members)))
        return value


def _lowering(func: relax.Function, generator: str) -> Lowering:
    """The lowering for a function with the attribute Codegen."""
    composite = next(_composites(func), str(func.attrs["global_symbol"]))
    return Lowering("fused", Codegen(generator), name=composite)


def _composites(func: relax.Function) -> Any:
    for block in func.body.blocks:
        for binding in block.bindings:
            attributes = getattr(binding.value, "attrs", None) if isinstance(binding.value, relax.Function) else None
            if attributes and "Composite" in attributes:
                yield str(attributes["Composite"])
