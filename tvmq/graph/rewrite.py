"""Rewriter of a function, the one that our passes use: binding by binding, keeping names and provenance.

    rewriter = Rewriter(mod)
    for var, value in rewriter.view.bindings:
        value = rewriter.substitute(value)          # arguments are already the new ones
        rewriter.bind(var, rewriter.emit(value, var.name))
    mod = rewriter.finish()

A binding that nobody reads any more disappears in `finish`. Every new variable carries the source names of the binding
being rewritten, or those that the pass gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import tvm
from tvm import relax
from tvm_ffi import structural_equal

from tvmq.graph.names import UniqueNames, merge, with_names
from tvmq.graph.view import View, leaves, used_vars


class Rewriter:
    """Builds a new main function from an old one; see the head of this file.

    mod     the module; it stays as it is
    raises  ModelError for a "main" that is no Relax function, or has control flow
    """

    def __init__(self, mod: tvm.IRModule) -> None:
        from tvmq.graph.module_functions import inline_functions  # which builds its functions here

        self.view = View(mod)
        self.mod = inline_functions(mod)
        self.params: list[relax.Var] = list(self.view.func.params)
        self.names: dict[str, tuple[str, ...]] = {
            name: sources for name, sources in self.view.names.items() if name in self.view.params
        }
        self._map: dict[str, relax.Expr] = {}
        self._old: dict[str, dict[str, None]] = {}
        self._readers: dict[str, set[str]] = {}  # of the old variables of a new one, without these themselves
        self._bindings: dict[str, tuple[relax.Var, relax.Expr]] = {}
        self._unique = UniqueNames(self.view.params)
        self._builder = relax.BlockBuilder()
        self.sources: tuple[str, ...] = ()
        self.absorbed: set[str] = set()  # old variables that a replacement of several bindings left unread

    def at(self, name: str) -> None:
        """Say which old variable is being rewritten: what is emitted from now on inherits its source names."""
        self.sources = self.view.sources(name)

    def substitute(self, expr: relax.Expr) -> relax.Expr:
        """The expression with every old variable replaced by what it became."""
        if isinstance(expr, relax.Var):
            return self._map.get(expr.name, expr)
        if isinstance(expr, relax.Tuple):
            return relax.Tuple([self.substitute(item) for item in expr.fields[:]])
        if isinstance(expr, relax.TupleGetItem):
            source = self.substitute(expr.tuple_value)
            return (
                source.fields[expr.index] if isinstance(source, relax.Tuple) else relax.TupleGetItem(source, expr.index)
            )
        if isinstance(expr, relax.Call):
            old = expr.args[:]
            args = [self.substitute(arg) for arg in old]
            if _are_same(args, old):
                return expr
            known = expr.ty if _same_types(args, old) else None  # to infer that of a convolution takes long
            return self._builder.normalize(relax.Call(expr.op, args, expr.attrs, expr.ty_args, expr.span, known))
        return expr

    def emit(self, value: relax.Expr, name: str, sources: Iterable[str] | None = None) -> relax.Var:
        """Bind a value to a new variable; nested calls get variables of their own before it."""
        sources = tuple(sources) if sources is not None else self.sources
        if isinstance(value, relax.Call):
            args = value.args[:]
            flat = [self._emit_operands(arg, name, sources) for arg in args]
            if not _are_same(flat, args):  # a new call has its type inferred again
                value = relax.Call(value.op, flat, value.attrs, value.ty_args, value.span)
        value = self._builder.normalize(value)
        var = relax.DataflowVar(self._unique(name), value.ty)
        self._bindings[var.name] = (var, value)
        if sources:
            self.names[var.name] = sources
        return var

    def _emit_operands(self, arg: relax.Expr, name: str, sources: tuple[str, ...]) -> relax.Expr:
        if isinstance(arg, relax.Call) and isinstance(arg.op, tvm.ir.Op) and arg.op.name.startswith("relax."):
            return self.emit(arg, f"{name}_{arg.op.name.split('.')[-1]}", sources)
        if isinstance(arg, relax.Tuple):
            fields = [self._emit_operands(item, name, sources) for item in arg.fields]
            return arg if _are_same(fields, arg.fields) else relax.Tuple(fields)
        return arg

    def bind(self, old: relax.Var, new: relax.Expr) -> None:
        """Replace `old` by `new` from now on."""
        self._map[old.name] = new
        if isinstance(new, relax.Var):
            names, readers = self._old.setdefault(new.name, {}), self._readers.setdefault(new.name, set())
            names[old.name] = None
            readers.discard(old.name)
            readers.update(reader for reader in self.view.readers.get(old.name, ()) if reader not in names)

    def old_names(self, new: relax.Var) -> list[str]:
        """The old variables that a new one replaces."""
        return list(self._old.get(new.name, ()))

    def value_of(self, expr: relax.Expr) -> relax.Expr | None:
        """Value that `emit` bound a new variable to; None for parameters and anything that is no variable."""
        bound = self._bindings.get(expr.name) if isinstance(expr, relax.Var) else None
        return bound[1] if bound else None

    def read_once(self, x: relax.Var) -> bool:
        """True if a new variable replaces exactly one old one, which has one reader and is no result."""
        is_output = any(name in self._old.get(x.name, ()) for name in self.view.outputs)
        return len(self._readers.get(x.name, ())) == 1 and not is_output

    def replace(self, var: relax.Var, value: relax.Expr, sources: Iterable[str] = ()) -> None:
        """Bind an already emitted variable to another value of the same type; it also gets these source names."""
        self._bindings[var.name] = (var, self._builder.normalize(value))
        self.names[var.name] = merge(self.names.get(var.name, ()), sources)

    def finish(
        self, params: Iterable[relax.Var] | None = None, results: Sequence[relax.Var] | None = None
    ) -> tvm.IRModule:
        """The new module; unread bindings are gone.

        Its results are what those of the old one have become, or a tuple of these new variables.
        """
        result = self.substitute(self.view.func.body.body) if results is None else relax.Tuple(list(results))
        result = self._flatten_result(result)
        func = build_function(
            list(params) if params is not None else self.params,
            list(self._bindings.values()),
            result,
            self.view.func,
        )
        bound = {var.name for block in func.body.blocks for var in (b.var for b in block.bindings)}
        bound |= {p.name for p in func.params}
        func = with_names(func, {name: sources for name, sources in self.names.items() if name in bound})
        module = self.mod.clone()
        module["main"] = func
        return module

    def _flatten_result(self, result: relax.Expr) -> relax.Expr:
        if isinstance(result, relax.Call | relax.TupleGetItem):
            return self.emit(result, "result")
        return result


def build_function(
    params: list[relax.Var],
    bindings: list[tuple[relax.Var, relax.Expr]],
    result: relax.Expr,
    like: relax.Function,
) -> relax.Function:
    """Build a function: a dataflow block of the bindings that `result` needs, with the attributes of `like`.

    A returned tuple stays outside of the block, as the importers do it.
    """
    needed = {var.name for var in leaves(result)}
    kept: list[tuple[relax.Var, relax.Expr]] = []
    for var, value in reversed(bindings):
        if var.name in needed:
            needed.update(used_vars(value))
            kept.append((var, value))
    kept.reverse()
    returned = {var.name for var in leaves(result)}
    replace: dict[str, relax.Var] = {}
    block: list[relax.Binding] = []
    builder = relax.BlockBuilder()
    for var, value in kept:
        value = builder.normalize(replace_variables(value, replace))  # gives new calls their types
        if var.name in returned:
            replace[var.name] = relax.Var(var.name, var.ty)
        elif not isinstance(var, relax.DataflowVar):
            replace[var.name] = relax.DataflowVar(var.name, var.ty)
        block.append(relax.VarBinding(replace.get(var.name, var), value))
    blocks = [relax.DataflowBlock(block)] if block else []
    result = builder.normalize(replace_variables(result, replace))
    body = builder.normalize(relax.SeqExpr(blocks, result))
    return relax.Function(params, body, result.ty, like.is_pure, like.attrs)


def _are_same(new: Sequence[relax.Expr], old: Sequence[relax.Expr]) -> bool:
    return all(a.same_as(b) for a, b in zip(new, old, strict=True))


def _same_types(new: Sequence[relax.Expr], old: Sequence[relax.Expr]) -> bool:
    """True if a call of the new arguments has the type of a call of the old ones: variables of equal types."""
    return all(
        a.same_as(b) or (isinstance(a, relax.Var) and isinstance(b, relax.Var) and structural_equal(a.ty, b.ty))
        for a, b in zip(new, old, strict=True)
    )


def replace_variables(expr: relax.Expr, table: Mapping[str, relax.Expr]) -> relax.Expr:
    """An expression with variables replaced, by name; the same object where none occurs."""
    if isinstance(expr, relax.Var):
        return table.get(expr.name, expr)
    if isinstance(expr, relax.Tuple):
        old = expr.fields[:]
        fields = [replace_variables(item, table) for item in old]
        return expr if _are_same(fields, old) else relax.Tuple(fields, expr.span)
    if isinstance(expr, relax.TupleGetItem):
        return relax.TupleGetItem(replace_variables(expr.tuple_value, table), expr.index)
    if isinstance(expr, relax.Call) and any(var.name in table for var in leaves(expr)):
        return relax.Call(
            expr.op, [replace_variables(arg, table) for arg in expr.args[:]], expr.attrs, expr.ty_args, expr.span
        )
    return expr


Visit = Callable[[Rewriter, relax.Var, relax.Expr], "relax.Expr | None"]


def rewrite(mod: tvm.IRModule, visit: Visit) -> tvm.IRModule:
    """Rewrite every binding with `visit(rewriter, var, value) -> new value, or None to keep it`.

    `value` already reads the new variables. A returned variable or constant replaces the old variable; a returned call
    is bound under the old variable's name.

    >>> x, builder = relax.Var("x", relax.TensorType((2,), "float32")), relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     _ = builder.emit_func_output(builder.emit(relax.op.negative(relax.op.negative(x)), "y"))
    >>> mod = rewrite(builder.get(), lambda rewriter, var, value: relax.op.nn.relu(x))
    >>> [(var.name, value.op.name) for var, value in View(mod).bindings][-1]
    ('y', 'relax.nn.relu')
    """
    rewriter = Rewriter(mod)
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        value = rewriter.substitute(value)
        new = visit(rewriter, var, value)
        new = value if new is None else new
        alias = isinstance(new, relax.Var) or (isinstance(new, tvm.ir.GenericConst) and new is not value)
        rewriter.bind(var, new if alias else rewriter.emit(new, var.name))
    return rewriter.finish()


__all__ = ["Rewriter", "build_function", "merge", "replace_variables", "rewrite"]
