"""Operators that the user defines: type, NumPy definition, kernel.

    SIGMOID = tvmq.extension.operator(
        "my_chip.sigmoid",
        definition=lambda x, slope: np.clip(x.astype(np.int32) * slope >> 4, -128, 127).astype(np.int8),
        kernel=lambda x, slope: te.compute(x.shape, lambda *i: ...),
        attributes={"slope": int},
    )
    call = SIGMOID(x, slope=3)          # a Relax call, for importers and for `realize` of a Family

It prints and parses as R.my_chip.sigmoid(x, slope=3), is saved with the module, and needs its package where the module
is read again (to verify or explain a saved model), not where the model runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import ir, relax, te, tirx

from tvmq.errors import ConfigError
from tvmq.graph.operators.declaration import make_attributes_type, register_operator

NAME = re.compile(r"[A-Za-z_]\w*\.[A-Za-z_]\w*")
TAKEN = ("tvmq", "nn", "image", "memory", "vm", "builtin", "dist", "grad", "ccl", "vision")  # namespaces of relax
FIELDS = {int: int, float: float, bool: bool, str: str}


@dataclass(frozen=True, eq=False)
class OwnOperator:
    """An operator of the user's; calling it with Relax expressions makes a call of it.

    name        as in a Family's `operators` and in patterns, without "relax."
    inputs      names of its tensors
    attributes  {name: type}
    definition  (*arrays, **attributes) -> array
    kernel      (*TE tensors, **attributes) -> TE tensor, or a PrimFunc of inputs and result
    result      (*types, **attributes) -> (shape, dtype)
    samples_apart  no sample of a batch, the first axis, influences another
    """

    name: str
    inputs: tuple[str, ...]
    attributes: Mapping[str, type]
    definition: Callable[..., Any]
    kernel: Callable[..., Any]
    result: Callable[..., Any]
    samples_apart: bool = False

    def __call__(self, *tensors: relax.Expr, **attributes: Any) -> relax.Call:
        """A call; ConfigError for another number of tensors, or other attributes."""
        if len(tensors) != len(self.inputs):
            raise ConfigError(f"{self.name}: {len(tensors)} tensors; give {', '.join(self.inputs)}")
        if set(attributes) != set(self.attributes):
            raise ConfigError(
                f"{self.name}: attributes {', '.join(sorted(attributes)) or 'none'}; give "
                f"{', '.join(self.attributes) or 'none'}"
            )
        attrs = _attributes[self.name](**{name: self.attributes[name](value) for name, value in attributes.items()})
        return relax.Call(ir.Op.get(f"relax.{self.name}"), list(tensors), attrs)

    def values(self, call: relax.Call) -> dict[str, Any]:
        """Attributes of a call of it, as Python has them."""
        return {name: kind(getattr(call.attrs, name)) for name, kind in self.attributes.items()}


_operators: dict[str, OwnOperator] = {}
_attributes: dict[str, Any] = {}


def operator(
    name: str,
    *,
    definition: Callable[..., Any],
    kernel: Callable[..., Any],
    result: Callable[..., Any] | None = None,
    inputs: Sequence[str] = ("x",),
    attributes: Mapping[str, type] | None = None,
    samples_apart: bool = False,
) -> OwnOperator:
    """Define an operator of your own.

    name        "my_chip.sigmoid": a namespace of yours, a name
    definition  (*arrays, **attributes) -> array, in NumPy: what `verify` compares compiled code with, bit for bit
    kernel      (*TE tensors, **attributes) -> a TE tensor, which gets a generic schedule, or a tirx.PrimFunc of the
                inputs and the result, which is used as it is
    result      (*types, **attributes) -> (shape, dtype); a type has .shape and .dtype. None: those of the first input
    inputs      names of its tensors
    attributes  {name: int, float, bool or str}
    samples_apart  each sample along the first axis is computed by itself, whatever the others are: a model of dynamic
                batch is then compiled for one sample, which is faster, and run for each
    raises      ConfigError for a name that is taken, and other attributes than an earlier definition in this process

    >>> import numpy as np
    >>> twice = operator(
    ...     "doc.twice", definition=lambda x: x + x, kernel=lambda x: te.compute(x.shape, lambda *i: x(*i) + x(*i)))
    >>> twice(relax.Var("x", relax.TensorType([2], "int32"))).op.name
    'relax.doc.twice'
    """
    if not isinstance(name, str) or not NAME.fullmatch(name) or name.partition(".")[0] in TAKEN:
        raise ConfigError(
            f"operator: a name is 'namespace.name' with a namespace of yours, not {', '.join(TAKEN)}. Got {name!r}"
        )
    for option, value in (("definition", definition), ("kernel", kernel), ("result", result or kernel)):
        if not callable(value):
            raise ConfigError(f"operator '{name}': {option}= is a function. Got a {type(value).__name__} instead")
    fields = dict(attributes or {})
    wrong = next((field for field, kind in fields.items() if kind not in FIELDS), None)
    if wrong is not None:
        raise ConfigError(f"operator '{name}': attribute '{wrong}' must be int, float, bool or str")
    own = OwnOperator(name, tuple(inputs), fields, definition, kernel, result or _as_first, samples_apart)
    known = _operators.get(name)
    if known is None:
        _register(own)
    elif (known.inputs, dict(known.attributes)) != (own.inputs, fields):
        raise ConfigError(
            f"operator '{name}': it was made with inputs {', '.join(known.inputs)} and attributes "
            f"{', '.join(known.attributes) or 'none'}; TVM keeps them: name the new one otherwise, or start Python anew"
        )
    _operators[name] = own
    return own


def own_operator(name: str) -> OwnOperator | None:
    """The operator of that name, if a user made it."""
    return _operators.get(name)


def _as_first(x: Any, *_others: Any, **_attributes: Any) -> tuple[Any, str]:
    return x.shape, str(x.dtype)


def _register(own: OwnOperator) -> None:
    """Tell TVM; what may change later is looked up by name when it is asked for."""
    name = own.name
    try:
        ir.Op.get(f"relax.{name}")
    except Exception:  # TVM's error of a name that is not there has no class of its own
        pass
    else:
        raise ConfigError(f"operator '{name}': TVM has a relax.{name} already; take another name")
    _attributes[name] = make_attributes_type(f"tvmq.own.{name}", own.attributes)
    register_operator(
        name,
        own.inputs,
        f"tvmq.own.{name}",
        lambda call, _builder: _type(_operators[name], call),
        lambda builder, call: _legalize(_operators[name], builder, call),
        lambda *tensors, **values: _operators[name](*tensors, **values),
    )


def _type(own: OwnOperator, call: relax.Call) -> relax.TensorType:
    """An error class of ours would not come back through TVM."""
    shape, dtype = own.result(*(arg.ty for arg in call.args), **own.values(call))
    return relax.TensorType(list(shape), str(np.dtype(dtype) if isinstance(dtype, type) else dtype))


def _legalize(own: OwnOperator, builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    values, label = own.values(call), own.name.replace(".", "_")
    tensors = [
        te.placeholder(list(arg.ty.shape), str(arg.ty.dtype), name)
        for arg, name in zip(call.args, own.inputs, strict=True)
    ]
    body = own.kernel(*tensors, **values)
    if isinstance(body, te.Tensor):
        body = te.create_prim_func([*tensors, body])
    elif isinstance(body, tirx.PrimFunc):
        body = body.with_attr("tirx.is_scheduled", True)
    else:
        raise ValueError(
            f"operator '{own.name}': its kernel gave a {type(body).__name__}; return a TE tensor or PrimFunc"
        )
    gvar = builder.add_func(body.with_attr("global_symbol", label), label)
    return relax.call_tir(gvar, relax.Tuple(list(call.args)), call.ty)
