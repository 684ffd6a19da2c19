"""Operators by consumers: the function of each consumer for an operator, or the reason why it needs none.

A consumer is a part of tvmq that meets operators by name: the reference, an exporter, training. MATRIX has those of
docs/operators.md, which docs/_ext/operator_pages.py prints from it; INTERNAL the others.

Tests: tests/graph/test_record_consumers.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

from tvmq.graph.operators import OPERATORS, RECORDS, where
from tvmq.graph.operators.record import (
    COMPARISON,
    CONVERSION,
    CONVOLUTION,
    CREATION,
    GATHER,
    LOGIC,
    MOVE,
    ORDER,
    POOL,
    RECURRENT,
    RESHAPE,
    RESIZE,
    SCATTER,
    TRANSPOSE,
    TRANSPOSED,
)

Reasons = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Consumer:
    """A part of tvmq that meets operators by name.

    asked    the operators that it can meet
    known    gives those for which it has a function
    reasons  {sentence: operators that it can meet and has no function for}
    table    where its functions are, for readers
    needs    a package without which it cannot be imported
    """

    asked: Set[str]
    known: Callable[[], Set[str]]
    reasons: Reasons
    table: str = ""
    needs: str = ""

    def reason(self, name: str) -> str:
        """The sentence that says why it has no function for an operator."""
        return next((sentence for sentence, names in self.reasons.items() if name in names), "")


def _ordered(names: Set[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


STANDARD_NORMS = ("nn.batch_norm", "nn.group_norm", "nn.instance_norm")
TRANSLATED = (*STANDARD_NORMS, "nn.layer_norm", "nn.rms_norm", "nn.log_softmax")
FLOAT_WINDOWS = tuple(
    f"nn.{kind}{axes}d{end}"
    for kind, end in (("avg_pool", ""), ("adaptive_avg_pool", ""), ("conv", "_transpose"))
    for axes in (1, 2, 3)
)
BITS = tuple(sorted(name for name in where(kind=LOGIC) if not name.startswith("logical")))
INTEGER_PAIRS = ("atan2", "ewise_fma", "floor_divide", "floor_mod", "mod")
SCATTERS = _ordered(where(kind=SCATTER, is_own=False))
GATHERS = ("dynamic_strided_slice", "gather_nd", "index_tensor")
COUNTED = ("median", "nonzero", "unique", "vision.non_max_suppression")
SORTED = ("argmax", "argmin", "argsort", "sort", "topk", *COUNTED)
SHAPES = ("arange", "full", "one_hot", "ones", "shape_of", "zeros")
COMPILED = (
    *("cumprod", "cumsum", "prod", "repeat", "std", "tril", "triu", "variance"),
    *(*INTEGER_PAIRS, *BITS, *GATHERS, *SCATTERS, *SHAPES, *SORTED, *FLOAT_WINDOWS),
)
LOOPS = _ordered(where(kind=RECURRENT))

# Operators that an integer core can contain, and those of ours among the integer ones that are never in one
INTEGER = where(integer=True)
ENDS = ("tvmq.dequantize", "tvmq.quantize")
RUN_TIME = (
    "tvmq.dynamic_dequantize", "tvmq.dynamic_quantize", "tvmq.dynamic_scale", "tvmq.group_dequantize", "tvmq.group_matmul",
    "tvmq.group_offset_matmul",
)  # fmt: skip
UNREALIZED = ("tvmq.observe", "tvmq.simulated_quantize")
FLOAT_SUMS = ("tvmq.float_sum", "tvmq.resample")
OUTSIDE: Reasons = {
    "It converts the inputs or results of the core, and is outside of it.": ENDS,
    "It is made for scales at run time or for weights alone, and such a module has no integer core.": RUN_TIME,
    "It computes floats; it is exact, but is not part of an integer core.": FLOAT_SUMS,
    "It is in no realized module.": UNREALIZED,
    "Packed weights are unpacked before the export.": ("tvmq.unpack",),
}


def _core(reason: str, names: tuple[str, ...], more: Reasons | None = None) -> Reasons:
    """Reasons of an exporter of integer cores: `reason` for what it refuses, and those of what no core contains."""
    return {reason: names, **(more or {}), **OUTSIDE}


CONSTANT = ("arange", "full", "one_hot", "ones", "shape_of", "zeros")
RARE = (
    "bitwise_not", "cumsum", "dynamic_strided_slice", "gather_nd", "index_tensor", "left_shift", "prod", "right_shift",
    "scatter_elements", "scatter_nd", "sign", "tril", "triu", "tvmq.tensor_scatter",
)  # fmt: skip
# Of these TFLite and TOSA have no form here, C does
ONLY_C = (
    "abs", "argmax", "argmin", "astype", "bitwise_and", "bitwise_or", "bitwise_xor", "broadcast_to", "clip", "flip",
    "full_like", "gather_elements", "logical_and", "logical_not", "logical_or", "logical_xor", "max", "min", "negative",
    "nn.conv3d", "nn.relu", "ones_like", "repeat", "stack", "sum", "take", "tile", "where", "zeros_like",
    *_ordered(where(kind=COMPARISON)),
    "tvmq.adaptive_sum_pool", "tvmq.add_mask", "tvmq.integer_layer_norm", "tvmq.integer_softmax", "tvmq.masked_mean",
)  # fmt: skip
REFUSED = "The exporter refuses it by name: it has no form for it yet."


def _reference() -> Set[str]:
    from tvmq.graph.evaluate import EXACT, FLOAT
    from tvmq.reference.definition import DEFINED

    return EXACT.keys() | FLOAT.keys() | DEFINED.keys()


def _onnx() -> Set[str]:
    from tvmq.formats.onnx.exporter.ops import WRITERS
    from tvmq.formats.onnx.exporter.writer import HANDLERS

    return WRITERS.keys() | HANDLERS.keys()


def _torch() -> Set[str]:
    """Those of the exporter of ONNX, whose nodes are translated, but for loops; and those that have an exact form."""
    from tvmq.formats.torch.exporter.integer_operators import EXACT

    return (_onnx() - set(LOOPS)) | EXACT.keys()


def _tflite() -> Set[str]:
    from tvmq.formats.tflite.to_tflite import FORMS

    return FORMS.keys()


def _tosa() -> Set[str]:
    from tvmq.formats.tosa.to_tosa import FORMS

    return FORMS.keys()


def _c() -> Set[str]:
    from tvmq.formats.c.export_c import FORMS

    return FORMS.keys()


def _training() -> Set[str]:
    from tvmq.training.forms import FORMS

    return FORMS.keys() | where(kind=MOVE)


def _emulation() -> Set[str]:
    from tvmq.chips.emulation.operators import OPERATORS

    return OPERATORS.keys()


def _bounds() -> Set[str]:
    from tvmq.graph.analysis.core_bounds import SUMS

    return SUMS.keys()


CLIPPED = (
    *("tvmq.add", "tvmq.integer_layer_norm", "tvmq.integer_softmax", "tvmq.masked_mean", "tvmq.prelu", "tvmq.quantize"),
    *("tvmq.requantize", "tvmq.scale_shift"),
)


def _code_ranges() -> Set[str]:
    """Those that move codes, tables, and all whose attributes say which codes they clip to."""
    from tvmq.codegen.lower.code_range import MOVES

    return MOVES | {"tvmq.table", *CLIPPED}


_TO_ONNX: Reasons = {
    "The pass `prepare` replaces it.": TRANSLATED,
    "An average over windows of several sizes is no operator of ONNX.": (
        *(f"nn.adaptive_avg_pool{axes}d" for axes in (1, 2, 3)), "tvmq.adaptive_sum_pool",
    ),
    REFUSED: (
        *("cumprod", "cumsum", "prod", "repeat", "std", "tril", "triu", "variance", "trunc", "isfinite"),
        *("full_like", "ones_like", "zeros_like", "log_add_exp", "logical_xor", "nn.selu", "tvmq.resample"),
        *(*INTEGER_PAIRS, *BITS, *GATHERS, *SCATTERS, *SORTED, *(set(SHAPES) - {"full", "ones", "zeros"})),
    ),
    "ONNX has it from opset 24 on, and the exporter writes older ones.": ("tvmq.tensor_scatter",),
    "ONNX has no operators for this integer form.": (
        *("tvmq.add_mask", "tvmq.integer_layer_norm", "tvmq.integer_softmax", "tvmq.masked_mean"),
        *("tvmq.dynamic_quantize", "tvmq.dynamic_scale", "tvmq.group_matmul", "tvmq.group_offset_matmul"),
    ),
    "It is in no realized module.": ("tvmq.fence", *UNREALIZED),
    "The exporter writes the constant that it unpacks.": ("tvmq.unpack",),
}  # fmt: skip

_KEPT = where(integer=True, kind=(MOVE, ORDER, COMPARISON, LOGIC, CREATION, SCATTER, RESIZE)) - {"tvmq.resample"}
_POOLS = tuple(f"nn.max_pool{axes}d" for axes in (1, 2, 3))
_FORMULAS = (
    "tvmq.add", "tvmq.add_mask", "tvmq.integer_layer_norm", "tvmq.integer_softmax", "tvmq.masked_mean", "tvmq.prelu",
    "tvmq.scale_shift",
)  # fmt: skip
_PLAIN = ("abs", "clip", "cumsum", "negative", "nn.relu", "prod", "sign", "subtract", "sum", "where")
_RESHAPED = where(form=(RESHAPE, TRANSPOSE))
_MOVES = where(commutes_with_quantize=True) - where(kind=RESIZE) - where(form=GATHER)
_SUMS = (
    *("add", "cumsum", "matmul", "multiply", "prod", "subtract", "sum"),
    *("tvmq.adaptive_sum_pool", "tvmq.add_mask", "tvmq.conv_transpose", "tvmq.matmul", "tvmq.multiply", "tvmq.sum"),
    "tvmq.sum_pool",
)

MATRIX: dict[str, Consumer] = {
    "reference": Consumer(
        OPERATORS.keys(),
        _reference,
        {
            "The pass `prepare` replaces it.": (*TRANSLATED, "nn.softmax"),
            "The reference runs the compiled operator, since no family needs its values.": COMPILED,
            "It changes no value, and the reference skips it.": ("tvmq.fence",),
            "It is in modules of calibration alone.": ("tvmq.observe",),
        },
        "`definition` of its declaration in `tvmq/graph/operators/`, `DEFINED` of `tvmq/reference/definition.py`, `EXACT` and `FLOAT` of `tvmq/graph/evaluate.py`",
    ),
    "ONNX": Consumer(
        OPERATORS.keys(),
        _onnx,
        _TO_ONNX,
        "`HANDLERS` of `tvmq/formats/onnx/exporter/writer.py`, `WRITERS` of `tvmq/formats/onnx/exporter/ops.py`",
    ),
    "torch": Consumer(
        OPERATORS.keys(),
        _torch,
        {**_TO_ONNX, "A loop over time is refused by name.": LOOPS},
        "`EXACT` of `tvmq/formats/torch/exporter/integer_operators.py`; otherwise the nodes of the exporter of ONNX, "
        "by `FUNCTIONS` of `tvmq/formats/torch/exporter/onnx_operators.py`",
        needs="torch",
    ),
    "TFLite": Consumer(
        INTEGER,
        _tflite,
        _core(
            REFUSED,
            (*RARE, *CONSTANT, *ONLY_C, "multiply", "subtract"),
            {
                "The exporter refuses products of two activations by name.": ("tvmq.matmul",),
                "The description `tflite` has no factors that vary over a tensor.": ("tvmq.scale_shift",),
            },
        ),
        "`FORMS` of `tvmq/formats/tflite/to_tflite.py`",
    ),
    "TOSA": Consumer(
        INTEGER,
        _tosa,
        _core(REFUSED, (*RARE, *CONSTANT, *ONLY_C), {"The description `tosa` has no prelu.": ("tvmq.prelu",)}),
        "`FORMS` of `tvmq/formats/tosa/to_tosa.py`",
    ),
    "C": Consumer(INTEGER, _c, _core(REFUSED, (*RARE, *CONSTANT)), "`FORMS` of `tvmq/formats/c/export_c.py`"),
    "training": Consumer(
        OPERATORS.keys(),
        _training,
        {
            "The pass `prepare` replaces it.": (*TRANSLATED, "nn.softmax"),
            "It gives integers or booleans without a gradient, by the definition.": (
                *(set(SHAPES)), *where(kind=LOGIC), "argmax", "argmin", "argsort", "isfinite", "isinf", "isnan", "nonzero",
                "unique", "vision.non_max_suppression",
            ),
            "Training refuses recurrent loops by name.": LOOPS,
            "Training refuses caches of earlier steps by name.": ("tvmq.tensor_scatter",),
            "Training refuses scales made at run time and weights alone.": RUN_TIME,
            "It is in no realized module that is trained.": ("tvmq.fence", *UNREALIZED, "tvmq.unpack"),
        },
        "`FORMS` of `tvmq/training/forms/__init__.py`; moves by `move` of `tvmq/training/forms/moves.py`",
        needs="torch",
    ),
    "emulation": Consumer(
        INTEGER,
        _emulation,
        {
            "The definition: it moves, chooses or compares integers, which every chip does in the same way.": (
                *_ordered(_KEPT), *_POOLS, "astype",
            ),
            "The definition: an integer formula of single values, in registers of 32 or 64 bits.": _FORMULAS,
            "The definition: it looks codes up.": ("tvmq.table",),
            "The definition, in plain integers of 32 bits.": _PLAIN,
            "The definition, with floats rounded to those of the chip.": (*ENDS, *RUN_TIME, *FLOAT_SUMS),
            "It changes no value.": ("tvmq.fence", "tvmq.unpack"),
            "It is in no realized module.": UNREALIZED,
        },
        "`OPERATORS` of `tvmq/chips/emulation/operators.py`",
    ),
    "bounds": Consumer(
        INTEGER,
        _bounds,
        {
            "It clips to codes that its attributes name.": (
                "tvmq.integer_layer_norm", "tvmq.integer_softmax", "tvmq.masked_mean", "tvmq.quantize", "tvmq.requantize",
            ),
            "Codes have the bounds of what is moved, chosen or compared, or of their type; other integers have none.": (
                *_ordered(_KEPT - _RESHAPED), *_POOLS, "astype", *_PLAIN,
            ),
            "It gives floats.": ("tvmq.dequantize", *(set(RUN_TIME) - {"tvmq.dynamic_quantize"}), *FLOAT_SUMS),
            "Codes have the bounds of their type.": ("tvmq.dynamic_quantize", "tvmq.unpack"),
            "It changes no value.": ("tvmq.fence",),
            "It is in no realized module.": UNREALIZED,
        },
        "`SUMS` of `tvmq/graph/analysis/core_bounds.py`",
    ),
    "code ranges": Consumer(
        INTEGER,
        _code_ranges,
        {
            "It gives sums in int32, whose range no kernel asks for.": (*_SUMS, *where(integer=True, kind=CONVOLUTION)),
            "It gives floats.": ("tvmq.dequantize", *(set(RUN_TIME) - {"tvmq.dynamic_quantize"}), *FLOAT_SUMS),
            "The range is not followed through it: all values of its type.": (
                *_ordered(_KEPT - _MOVES), "abs", "astype", "clip", "negative", "nn.relu", "sign", "where",
                "tvmq.dynamic_quantize", "tvmq.unpack",
            ),
            "It is in no realized module.": UNREALIZED,
        },
        "`MOVES` of `tvmq/codegen/lower/code_range.py`, tables, and operators that clip to codes",
    ),
}  # fmt: skip


def _batch_dimension() -> Set[str]:
    return {record.name for record in RECORDS if record.batch}


def _families() -> Set[str]:
    from tvmq.passes import OPS

    return OPS.keys()


def _on_codes() -> Set[str]:
    from tvmq.formats.onnx.exporter.writer import ON_CODES

    return set(ON_CODES)


def _backend_checks() -> Set[str]:
    from tvmq.passes.operator_families import OPERATORS

    return OPERATORS.keys()


def _padding_rules() -> Set[str]:
    from tvmq.graph.analysis.position_moves import MOVE_RULES
    from tvmq.graph.analysis.position_sums import SUM_RULES

    at_one_place = {record.name for record in RECORDS if record.batch in ("same rank", "constants along")}
    return MOVE_RULES.keys() | SUM_RULES.keys() | at_one_place


def _index_operands() -> Set[str]:
    from tvmq.graph.indices import OPERANDS

    return OPERANDS.keys()


def _tables() -> Set[str]:
    from tvmq.graph.evaluate import EXACT, FLOAT
    from tvmq.passes.families.table import ELEMENTWISE

    return ELEMENTWISE & (EXACT.keys() | FLOAT.keys())


INTERNAL: dict[str, Consumer] = {
    "batch dimension": Consumer(
        OPERATORS.keys(),
        _batch_dimension,
        {
            "Indices may point to other samples.": (*GATHERS, *SCATTERS),
            "It has no samples among its operands.": ("arange", "one_hot", "shape_of", "tvmq.unpack"),
            "The pass `prepare` replaces it.": STANDARD_NORMS,
            "It is in modules of calibration alone.": ("tvmq.observe",),
            "It has as many results as its values say, or several.": COUNTED,
        },
    ),
    "masked positions": Consumer(
        OPERATORS.keys(),
        _padding_rules,
        {
            "It reads neighbours, masked ones too.": _ordered(
                where(kind=(CONVOLUTION, TRANSPOSED, POOL, RESIZE, RECURRENT)) | {"cumprod"}
            ),
            "Masked positions have a place in the order, or a part in the result.": (
                *SORTED, "prod", "std", "variance", "tvmq.group_norm", "nn.log_softmax", "tvmq.log_softmax",
            ),
            "The pass `prepare` replaces it.": (*STANDARD_NORMS, "nn.layer_norm", "nn.rms_norm", "nn.softmax"),
            "Indices may point to masked positions.": (*GATHERS, *SCATTERS, "tvmq.tensor_scatter"),
            "It makes positions, or counts them.": ("one_hot", "shape_of", "tile", "tril", "triu"),
            "It reads weights.": (
                "tvmq.group_dequantize", "tvmq.group_matmul", "tvmq.group_offset_matmul", "tvmq.unpack",
            ),
            "It is in modules of calibration alone.": ("tvmq.observe",),
        },
    ),
    "families of what works on codes": Consumer(
        where(commutes_with_quantize=True),
        _families,
        {
            "It has no definition on codes yet.": (*GATHERS, "repeat"),
            "It is in no module that is partitioned.": ("tvmq.fence",),
        },
    ),
    "export of what works on codes": Consumer(where(commutes_with_quantize=True) & _families(), _on_codes, {}),
    "checks of a backend": Consumer(
        where(integer=True, is_own=True),
        _backend_checks,
        {
            "It is in front of the core or behind it.": _ordered(
                where(kind=CONVERSION, is_own=True, integer=True) - {"tvmq.requantize"}
            ),
            "It computes floats, which their type tells.": (
                "tvmq.dynamic_scale", "tvmq.float_sum", "tvmq.group_matmul", "tvmq.group_offset_matmul", "tvmq.resample",
            ),
            "It is in no realized module.": ("tvmq.fence", "tvmq.observe"),
        },
    ),
    "operands that are indices": Consumer(
        where(form=GATHER) | where(kind=SCATTER),
        _index_operands,
        {
            "Its indices are of slices, not of elements.": ("dynamic_strided_slice", "slice_scatter"),
            "Any index is good: positions wrap round.": ("tvmq.tensor_scatter",),
        },
    ),
    "tables of elementwise operators": Consumer(
        where(elementwise=True),
        _tables,
        {"It is of integers, or of two tensors.": (*INTEGER_PAIRS, *BITS)},
    ),
}  # fmt: skip
