"""Treat channels that are far larger than the others, so that one scale serves the rest; the floats stay the same.

Before                                            After
    n = layer_norm(x, gamma, beta)                    n = layer_norm(x, gamma, beta)
    y = matmul(n, w)                                  s = multiply(n, 1 / factors)
    z = add(n, y)                                     y = matmul(s, factors * w)
                                                      z = add(n, y)

    h = add(matmul(x, w1), b1)                        h, t = the same with some columns of w1 zero, and of these alone
    g = gelu(h)                                       g, u = gelu(h), gelu(t)
    y = matmul(g, w2)                                 y = add(matmul(g, w2 without their rows), matmul(u, their rows))

First     SmoothQuant with powers of two, also where a gate is multiplied by what a matrix gives: in its columns;
          second, the outlier channels split off, as LLM.int8() does, but in integers.
Needs     a prepared module and what find_outliers (outliers.py) says of it.
Leaves    a normalization that only such products read: 1 / factors goes into its gamma and beta.
Numerics  factors are powers of two: products are the same floats; a sum that is split is added in another order.

Tests: tests/passes/calibrate/test_outliers.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.errors import CalibrationError
from tvmq.graph.ledger import require_stage, with_ledger
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import const_value, is_const, make_const, op_name, shape_of
from tvmq.passes.calibrate.outliers import bias_and_product, function_chain
from tvmq.passes.calibrate.token_factors import gate_of

# What becomes of the channels (the last axis) of an array.
Columns = Callable[[np.ndarray], np.ndarray]
# normalization -> positions of what it multiplies and adds to its result
PARAMETERS = {"tvmq.layer_norm": (1, 2), "tvmq.rms_norm": (1,)}


def scale_outliers(mod: tvm.IRModule, treatments: Mapping[str, Mapping[str, Any]] | None = None) -> tvm.IRModule:
    """Treat channels that are far larger than the others; `treatments` None changes nothing."""
    ledger = require_stage(mod, "scale_outliers", ("prepared",))
    if not treatments:
        return mod
    result = _Scaler(mod, treatments).run()
    for name, choice in treatments.items():
        ledger.notes.append(_describe(name, choice))
    return with_ledger(result, ledger)


def _describe(name: str, choice: Mapping[str, Any]) -> str:
    """A note of what is done with the channels of a value.

    >>> _describe("a", {"split": [3]})
    "outliers: 1 channel of 'a' is far larger than the others and has a product of its own"
    >>> _describe("a", {"factors": {3: 4.0, 5: 2.0}})
    "outliers: 2 channels of 'a' are far larger than the others and are divided by powers of two"
    """
    count = len(choice.get("factors") or choice.get("split", ()))
    if count == 1:
        channels, be, apart = "1 channel", "is", "has a product of its own"
    else:
        channels, be, apart = f"{count} channels", "are", "have a product of their own"
    how = f"{be} divided by powers of two" if "factors" in choice else apart
    return f"outliers: {channels} of '{name}' {be} far larger than the others and {how}"


class _Scaler:
    """Walks the module."""

    def __init__(self, mod: tvm.IRModule, treatments: Mapping[str, Mapping[str, Any]]) -> None:
        self.rewriter = Rewriter(mod)
        self.view = self.rewriter.view
        self.treatments = treatments
        self._scaled: dict[str, tuple[relax.Expr, np.ndarray]] = {}
        self._parts: dict[str, list[tuple[relax.Expr, Columns]]] = {}
        self._other: dict[str, relax.Var] = {}

    def run(self) -> tvm.IRModule:
        """Rewrite all bindings."""
        for var, old in self.view.bindings:
            self.rewriter.at(var.name)
            value = self._value(var, old, self.rewriter.substitute(old))
            new = value if isinstance(value, relax.Var) else self.rewriter.emit(value, var.name)
            self.rewriter.bind(var, new)
            choice = self.treatments.get(var.name, {})
            if "factors" in choice:
                self._scale(var, new, choice["factors"])
            elif "split" in choice:
                self._split_tensor(var, choice["split"])
        return self.rewriter.finish()

    def _value(self, var: relax.Var, old: relax.Expr, value: relax.Expr) -> relax.Expr:
        """New value of a binding."""
        value = self._fold_into_weight(old, value)
        source = _left_of_product(old)
        if source in self._parts:
            return self._sum_of_parts(var, self._parts[source], const_value(value.args[1]))
        if var.name in self._other:
            return relax.op.add(self.rewriter.emit(value, f"{var.name}_most"), self._other[var.name])
        return value

    def _fold_into_weight(self, old: relax.Expr, value: relax.Expr) -> relax.Expr:
        """Fold the factors of a scaled tensor into the weight of its product; anything else stays as it is."""
        source = _left_of_product(old)
        if source not in self._scaled or not is_const(value.args[1]):
            return value
        x, factors = self._scaled[source]
        weight = const_value(value.args[1]) * factors[:, None]
        return relax.op.matmul(x, make_const(weight.astype(np.float32)))

    def _scale(self, var: relax.Var, new: relax.Var, channel_factors: Mapping[str, float]) -> None:
        """Provide the tensor divided by its factors."""
        factors = np.ones(_channels(var), np.float32)
        for channel, factor in channel_factors.items():
            if int(channel) >= len(factors):
                raise CalibrationError(
                    f"scale_outliers: the calibration scales channel {channel} of '{var.name}', which has "
                    f"{len(factors)}; calibrate again"
                )
            factors[int(channel)] = factor
        products = [r for r in self.view.readers[var.name] if bias_and_product(self.view, r)]
        value = self.rewriter.value_of(new)
        if len(products) == len(self.view.readers[var.name]) and not self.view.is_output(var.name):
            folded = _fold_factors(value, factors)
            if folded is None and self._fold_into_gate(var, factors):
                self._scaled[var.name] = new, factors
                return
            if folded is not None:
                self.rewriter.replace(new, folded)
                self._scaled[var.name] = new, factors
                return
        scaled = self.rewriter.emit(relax.op.multiply(new, make_const(1 / factors)), f"{var.name}_scaled")
        self._scaled[var.name] = scaled, factors

    def _fold_into_gate(self, var: relax.Var, factors: np.ndarray) -> bool:
        """Divide what a gate is multiplied by, in the matrix that makes it; False for other tensors."""
        gated = gate_of(self.view, self.view.value[var.name])
        product = None if gated is None else self.rewriter.substitute(gated)
        matrix_product = None if product is None else self.rewriter.value_of(product)
        if matrix_product is None or op_name(matrix_product) != "matmul" or not is_const(matrix_product.args[1]):
            return False
        weight = const_value(matrix_product.args[1]) / factors
        self.rewriter.replace(product, relax.op.matmul(matrix_product.args[0], make_const(weight.astype(np.float32))))
        return True

    def _split_tensor(self, var: relax.Var, channels: Sequence[int]) -> None:
        """Provide the tensor in two parts, each computed from its own columns of the product before."""
        chain = function_chain(self.view, var.name)
        size = _channels(var)
        alone = np.isin(np.arange(size), channels)

        # most: zeros in place of the outliers, so that sizes stay multiples of vectors
        def zero_out(array: np.ndarray) -> np.ndarray:
            return np.where(alone, np.float32(0), array)

        def pick(array: np.ndarray) -> np.ndarray:
            return np.ascontiguousarray(array[..., alone])

        self._parts[var.name] = [
            (self._part(chain, columns, label), columns) for columns, label in ((zero_out, "most"), (pick, "outliers"))
        ]

    def _part(self, chain: Sequence[str], columns: Columns, label: str) -> relax.Expr:
        """The operators of a chain for some of the channels."""
        results: dict[str, relax.Expr] = {}
        for name in chain:
            self.rewriter.at(name)
            old = self.view.value[name]
            call = self._fold_into_weight(old, self.rewriter.substitute(old))
            args = [
                results.get(before.name, now) if isinstance(before, relax.Var) else _select_columns(now, columns)
                for before, now in zip(old.args, call.args, strict=True)
            ]
            results[name] = self.rewriter.emit(relax.Call(call.op, args, call.attrs), f"{name}_{label}")
        return results[chain[-1]]

    def _sum_of_parts(
        self, var: relax.Var, parts: Sequence[tuple[relax.Expr, Columns]], weight: np.ndarray
    ) -> relax.Expr:
        """The product as the sum of two; a bias behind it goes to the first one."""
        most, other = (
            relax.op.matmul(x, make_const(np.ascontiguousarray(columns(weight.T).T))) for x, columns in parts
        )
        other = self.rewriter.emit(other, f"{var.name}_outliers")
        reader = self.view.only_reader(var.name)
        if reader is not None and len(bias_and_product(self.view, reader)) == 2:
            self._other[reader] = other
            return most
        return relax.op.add(self.rewriter.emit(most, f"{var.name}_most"), other)


def _left_of_product(value: relax.Expr) -> str | None:
    """The variable on the left of a product, None for anything else."""
    is_product = op_name(value) == "matmul" and isinstance(value.args[0], relax.Var)
    return value.args[0].name if is_product else None


def _select_columns(value: relax.Expr, columns: Columns) -> relax.Expr:
    """Apply `columns` to a constant that has channels; anything else stays as it is."""
    if not is_const(value) or const_value(value).ndim == 0 or const_value(value).shape[-1] == 1:
        return value
    return make_const(columns(const_value(value)))


def _fold_factors(value: relax.Expr | None, factors: np.ndarray) -> relax.Expr | None:
    """A normalization whose result is divided by `factors`; None if its parameters are no constants of one axis."""
    places = PARAMETERS.get(op_name(value), ())
    if value is None or not all(is_const(value.args[i]) and shape_of(value.args[i]) == factors.shape for i in places):
        return None
    args = [make_const(const_value(a) / factors) if i in places else a for i, a in enumerate(value.args)]
    return relax.Call(value.op, args, value.attrs, value.ty_args) if places else None


def _channels(var: relax.Var) -> int:
    """Size of the last axis, which a product reads: never dynamic."""
    return int(var.ty.shape[-1])
