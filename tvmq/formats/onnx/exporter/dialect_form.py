"""The form that a module is written in: which opset its codes need, and whether the dialect has them at all.

Tests: tests/formats/onnx/exporter/test_dialects.py
"""

from __future__ import annotations

from tvm import relax

from tvmq import numerics
from tvmq.errors import ConfigError, UnsupportedOpError
from tvmq.formats.onnx.exporter.dialects import NEW, OLD, Dialect, Form
from tvmq.graph.ledger import Ledger
from tvmq.graph.view import View, op_name
from tvmq.numerics.code_type import CODES_16


def choose_form(view: View, ledger: Ledger, dialect: Dialect, opset: int | None) -> Form:
    """How the module is written.

    view    of its main function
    opset   as asked for; None takes the oldest one that has types for all its codes
    raises  ConfigError for codes that the dialect lacks, UnsupportedOpError for those that the opset lacks
    """
    if dialect.symmetric:
        _check_symmetric(view, ledger, dialect)
    int16 = next((var.name for var, value in view.bindings if _gives_int16(value)), None)
    narrow = _narrow_weights(view, ledger, dialect)
    if opset is None:
        opset = NEW if int16 is not None or narrow else OLD
    if int16 is not None and opset < NEW:
        raise UnsupportedOpError(
            f"to_onnx, layer '{view.sources(int16)[0]}': 16-bit codes cannot be written in ONNX opset {opset}, whose "
            f"QuantizeLinear returns 8 bits; use opset={NEW}, or quantize with residual_streams='float' and 8-bit "
            "activations"
        )
    return Form(dialect, opset, narrow if opset >= NEW else frozenset())


def _gives_int16(value: relax.Expr) -> bool:
    """True for codes of 16 bits; a cast makes int16 of 8-bit codes to compare them."""
    return str(getattr(getattr(value, "attrs", None), "dtype", "")) == "int16" and op_name(value) != "astype"


def _narrow_weights(view: View, ledger: Ledger, dialect: Dialect) -> frozenset[str]:
    """Names of the weights of at most 4 bits that get a type of 4 bits."""
    narrow = [entry for entry in ledger.layers.values() if entry.get("weight_bits", 8) <= numerics.PACKED_BITS]
    layers = {source for entry in narrow for source in entry["layers"]}
    if not dialect.narrow:
        grouped = [var.name for var, value in view.bindings if op_name(value) == "tvmq.group_dequantize"]
        layers &= {source for name in grouped for source in view.sources(name)}
    return frozenset(f"{layer}.weight" for layer in layers)


def _type(var: relax.Var) -> str:
    """The type of a tensor, of the first of several."""
    return str(getattr(getattr(var.ty, "fields", [var.ty])[0], "dtype", ""))


def _check_symmetric(view: View, ledger: Ledger, dialect: Dialect) -> None:
    """raises  ConfigError naming the first tensor whose codes are not int8 around zero, and how many there are"""
    others = []
    for name, (_, zero) in ledger.codes.items():
        var = view.var.get(name, view.params.get(name))
        dtype = "" if var is None else _type(var)
        if dtype in CODES_16 and (dtype != "int8" or int(zero)):
            others.append((name, dtype, int(zero)))
    if not others:
        return
    name, dtype, zero = others[0]
    raise ConfigError(
        f"to_onnx, layer '{view.sources(name)[0]}': dialect '{dialect.name}' takes only int8 codes with zero point 0, "
        f"and {len(others)} tensors have other codes (here {dtype}, zero point {zero}); quantize with "
        "target='tensorrt' (--backend tensorrt), or with qconfig(scheme='symmetric', dtype_input='int8')"
    )
