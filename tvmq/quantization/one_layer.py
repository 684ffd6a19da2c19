"""A layer on quantized tensors: a network of that layer, with the scales of its tensors, as the passes make it.

    x, w codes                                        quantized_main of the network
    dequantize -> the layer in float -> quantize      import_qdq, realize: its constants, its proof of int32

So nothing here knows how a layer is computed: the network is realized as any other that has scales of its own, and its
integer core is run by the definition, or compiled.

Tests: tests/test_functional.py
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.base.foreign_errors import clause
from tvmq.errors import ConfigError
from tvmq.graph import ops
from tvmq.graph.ledger import get_ledger
from tvmq.graph.view import make_const
from tvmq.numerics.spec import QParams
from tvmq.options.config import QConfig, current_qconfig
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.import_qdq import import_qdq
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.passes.prepare import prepare
from tvmq.passes.realize import realize
from tvmq.tensors.qtensor import QTensor

CORE = "quantized_main"
MOST_LAYERS = 32  # compiled ones take a second, others 20 ms; each keeps its weight
_LAYERS: OrderedDict[str, Callable[..., np.ndarray]] = OrderedDict()


@dataclass(frozen=True)
class OneLayer:
    """A layer with its constants.

    name      of the functional, for messages
    function  operator of Relax on floats: function(*inputs, *weights, **options) -> the result
    weights   quantized constants
    bias      float32, of a shape that broadcasts over the result; None for none
    """

    name: str
    function: Callable[..., relax.Expr]
    options: Mapping[str, Any] = field(default_factory=dict)
    weights: Sequence[QTensor] = ()
    bias: np.ndarray | None = None

    def run(self, inputs: Sequence[QTensor], result: QParams, target: Any = None) -> QTensor:
        """The codes of the result.

        target  what the layer is compiled for, as in `tvmq.build`; None: the definition computes it
        raises  ConfigError for a layer that has no integer form with these scales, AccumulatorError for sums that could
                leave int32, RangeError for a factor that the options of requantize cannot express
        """
        config = _requantize_options()
        key = self._key(inputs, result, config, target)
        compute = _LAYERS.pop(key, None) or _core(self._module(inputs, result, config), target)
        _LAYERS[key] = compute  # the last one now
        while len(_LAYERS) > MOST_LAYERS:
            _LAYERS.popitem(last=False)
        return QTensor(compute(*[x.codes for x in inputs]), result)

    def _key(self, inputs: Sequence[QTensor], result: QParams, config: QConfig, target: Any) -> str:
        tensors = [[x.shape, x.qparams.to_dict()] for x in (*inputs, *self.weights)]
        arrays = [*[weight.codes for weight in self.weights], *([] if self.bias is None else [self.bias])]
        constants = [[array.shape, hashlib.sha256(array.tobytes()).hexdigest()] for array in arrays]
        options = [self.options, config.to_dict(), str(target)]
        return json.dumps([self.name, tensors, constants, result.to_dict(), options], sort_keys=True)

    def _module(self, inputs: Sequence[QTensor], result: QParams, config: QConfig) -> tvm.IRModule:
        """The realized network, its conversions split off."""
        mod = realize(import_qdq(prepare(self._float_module(inputs, result)), config))
        for entry in get_ledger(mod).layers.values():
            if entry["precision"] == "float":
                raise ConfigError(f"functional.{self.name}: {entry['why'].partition(': ')[2]}")
        return partition_conversions(fold_constants(mod))

    def _float_module(self, inputs: Sequence[QTensor], result: QParams) -> tvm.IRModule:
        """The layer in float between quantize and dequantize operators."""
        params = [relax.Var(f"x{i}", relax.TensorType(x.shape, "float32")) for i, x in enumerate(inputs)]
        self._check_shapes(params)
        builder = relax.BlockBuilder()
        with builder.function("main", params):
            with builder.dataflow():
                pairs = zip(params, inputs, strict=True)
                real = [_quantize_and_dequantize(builder, param, x.qparams) for param, x in pairs]
                real += [builder.emit(_dequantize(make_const(weight.codes), weight.qparams)) for weight in self.weights]
                value = builder.emit(self.function(*real, **self.options))
                if self.bias is not None:
                    value = builder.emit(relax.op.add(value, make_const(self.bias)))
                output = builder.emit_output(_quantize_and_dequantize(builder, value, result))
            builder.emit_func_output(output)
        return builder.get()

    def _check_shapes(self, params: Sequence[relax.Var]) -> None:
        """Refuse sizes that TVM's type rules refuse, before a module is begun."""
        weights = [relax.Var("w", relax.TensorType(weight.shape, "float32")) for weight in self.weights]
        try:
            relax.BlockBuilder().normalize(self.function(*params, *weights, **self.options))
        except (ValueError, RuntimeError) as error:
            shapes = ", ".join(str(tuple(map(int, var.ty.shape))) for var in (*params, *weights))
            fact = f"functional.{self.name}: shapes {shapes} do not fit each other"
            raise ConfigError(f"{fact}{clause(error)}") from error


def _quantize_and_dequantize(builder: relax.BlockBuilder, x: relax.Expr, qparams: QParams) -> relax.Var:
    """The tensor rounded to codes of these parameters, as floats."""
    spec, scale, zero_point = qparams.spec, make_const(qparams.scale), make_const(qparams.zero_point)
    codes = ops.quantize(x, scale, zero_point, dtype=spec.dtype, qmin=spec.qmin, qmax=spec.qmax)
    return builder.emit(_dequantize(builder.emit(codes), qparams))


def _dequantize(codes: relax.Expr, qparams: QParams) -> relax.Expr:
    axis = -1 if qparams.axis is None else qparams.axis
    return ops.dequantize(codes, make_const(qparams.scale), make_const(qparams.zero_point), axis=axis)


def _requantize_options() -> QConfig:
    """The options in force that say how sums become codes; no others apply to a layer by hand."""
    config = current_qconfig()
    return QConfig(requantize=config.requantize, rounding=config.rounding, factors=config.factors)


def _core(mod: tvm.IRModule, target: Any) -> Callable[..., np.ndarray]:
    """The integer core as a function of codes."""
    if target is None:
        from tvmq.reference import Reference

        reference = Reference(mod, function=CORE)
        return lambda *codes: reference.run(codes)[0]  # codes in the order of the inputs
    from tvmq.codegen.compile.build import build

    function = build(mod, target=target)[CORE]
    return lambda *codes: np.asarray(function(*codes))
