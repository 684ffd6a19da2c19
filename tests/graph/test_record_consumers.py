"""Records x consumers: an operator that one of them does not know stands here, with the reason; none stays float unseen.

A new record, or a new entry of a consumer, must be right in all lists: they are compared for equality.
"""

from __future__ import annotations

from collections.abc import Set

import pytest

from tvmq.codegen.lower.lowerer import DYNAMIC_SHAPE_RULES, LOWERINGS
from tvmq.formats.onnx.exporter.ops import WRITERS
from tvmq.formats.onnx.exporter.writer import HANDLERS, ON_CODES
from tvmq.graph.analysis.core_bounds import SUMS
from tvmq.graph.evaluate import EXACT, FLOAT
from tvmq.graph.indices import OPERANDS
from tvmq.graph.operators import OPERATORS, RECORDS, where
from tvmq.graph.operators.record import CONVERSION, GATHER, LOGIC, SCATTER
from tvmq.passes import OPS, integrality, operator_families
from tvmq.passes.families import table
from tvmq.reference.definition import DEFINED, INTEGER

STANDARD_NORMS = ("nn.batch_norm", "nn.group_norm", "nn.instance_norm")
TRANSLATED = (*STANDARD_NORMS, "nn.layer_norm", "nn.rms_norm", "nn.log_softmax")
FLOAT_WINDOWS = tuple(
    f"nn.{kind}{axes}d{end}"
    for kind, end in (("avg_pool", ""), ("adaptive_avg_pool", ""), ("conv", "_transpose"))
    for axes in (1, 2, 3)
)
BITS = tuple(sorted(name for name in where(kind=LOGIC) if not name.startswith("logical")))
INTEGER_PAIRS = ("atan2", "ewise_fma", "floor_divide", "floor_mod", "mod")
SCATTERS = tuple(sorted(where(kind=SCATTER)))
GATHERS = ("dynamic_strided_slice", "gather_nd", "index_tensor")
COUNTED = ("median", "nonzero", "unique", "vision.non_max_suppression")
SORTED = ("argmax", "argmin", "argsort", "sort", "topk", *COUNTED)
SHAPES = ("arange", "full", "one_hot", "ones", "shape_of", "zeros")
COMPILED = (
    *("cumprod", "cumsum", "prod", "repeat", "std", "tril", "triu", "variance"),
    *(*INTEGER_PAIRS, *BITS, *GATHERS, *SCATTERS, *SHAPES, *SORTED, *FLOAT_WINDOWS),
)

# consumer -> (operators it is asked about, those it knows, {reason: those it need not know})
Reasons = dict[str, tuple[str, ...]]
CONSUMERS: dict[str, tuple[Set[str], Set[str], Reasons]] = {
    "batch dimension": (
        OPERATORS.keys(),
        {record.name for record in RECORDS if record.batch},
        {
            "indices may point to other samples": (*GATHERS, *SCATTERS),
            "no samples among its operands": ("arange", "one_hot", "shape_of", "tvmq.unpack"),
            "prepare makes others of them": STANDARD_NORMS,
            "a scale may be that of all samples": (
                "tvmq.dynamic_dequantize", "tvmq.dynamic_quantize", "tvmq.dynamic_scale", "tvmq.group_matmul",
            ),
            "of modules of calibration alone": ("tvmq.observe",),
            "as many results as its values say, or several": COUNTED,
        },
    ),
    "NumPy": (
        OPERATORS.keys(),
        EXACT.keys() | FLOAT.keys() | DEFINED.keys() | INTEGER.keys(),
        {
            "prepare makes others of them": (*TRANSLATED, "nn.softmax"),
            "the reference compiles them, and no family needs their values": COMPILED,
            "changes no value, the reference skips it": ("tvmq.fence",),
            "of modules of calibration alone": ("tvmq.observe",),
        },
    ),
    "export to ONNX": (
        OPERATORS.keys(),
        WRITERS.keys() | HANDLERS.keys(),
        {
            "prepare makes others of them": TRANSLATED,
            "an average pool over windows of several sizes is no operator of ONNX": (
                *(f"nn.adaptive_avg_pool{axes}d" for axes in (1, 2, 3)), "tvmq.adaptive_sum_pool",
            ),
            "refused by name: nobody asked for them yet": (
                *("cumprod", "cumsum", "prod", "repeat", "std", "tril", "triu", "variance", "trunc", "isfinite"),
                *("full_like", "ones_like", "zeros_like", "log_add_exp", "logical_xor", "nn.selu", "tvmq.resample"),
                *(*INTEGER_PAIRS, *BITS, *GATHERS, *SCATTERS, *SORTED, *(set(SHAPES) - {"full", "ones", "zeros"})),
            ),
            "integer forms that ONNX has no operators for": (
                *("tvmq.add_mask", "tvmq.integer_layer_norm", "tvmq.integer_softmax", "tvmq.masked_mean"),
                *("tvmq.dynamic_quantize", "tvmq.dynamic_scale", "tvmq.group_matmul"),
            ),
            "not in a realized module": ("tvmq.fence", "tvmq.observe", "tvmq.simulated_quantize"),
            "of constants": ("tvmq.unpack",),
        },
    ),
    "families of what works on codes": (
        where(commutes_with_quantize=True),
        OPS.keys(),
        {
            "no definition on codes yet": (*GATHERS, "repeat"),
            "stands in no module that is partitioned": ("tvmq.fence",),
        },
    ),
    "export of what works on codes": (where(commutes_with_quantize=True) & OPS.keys(), ON_CODES, {}),
    "checks of a backend": (
        where(integer=True, is_own=True),
        operator_families.OPERATORS.keys(),
        {
            "in front of the core and behind it": tuple(
                sorted(where(kind=CONVERSION, is_own=True) - {"tvmq.requantize"})
            ),
            "floats, told by their type": (
                "tvmq.dynamic_scale", "tvmq.float_sum", "tvmq.group_matmul", "tvmq.resample",
            ),
            "not in a realized module": ("tvmq.fence", "tvmq.observe"),
        },
    ),
    "operands that are indices": (
        where(form=GATHER) | where(kind=SCATTER),
        OPERANDS.keys(),
        {"of slices, not of elements": ("dynamic_strided_slice", "slice_scatter")},
    ),
    "tables of elementwise operators": (
        where(elementwise=True),
        table.ELEMENTWISE & (EXACT.keys() | FLOAT.keys()),
        {"of integers, or of two tensors": (*INTEGER_PAIRS, *BITS)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_a_consumer_knows_every_record(consumer: str) -> None:
    asked, known, reasons = CONSUMERS[consumer]
    excepted = [name for names in reasons.values() for name in names]
    assert len(excepted) == len(set(excepted)), "one reason each"
    unknown = set(asked) - set(known)
    assert not unknown - set(excepted), f"{consumer} does not know these operators"
    assert not set(excepted) - unknown, f"{consumer} knows these, or is not asked: no reason is needed"


@pytest.mark.parametrize("table", [
    EXACT, FLOAT, DEFINED, INTEGER, WRITERS, HANDLERS, OPS, LOWERINGS, DYNAMIC_SHAPE_RULES, SUMS, OPERANDS, operator_families.OPERATORS,
])  # fmt: skip
def test_what_dispatches_has_records(table: dict[str, object]) -> None:
    assert not set(table) - set(OPERATORS)


def test_integral_modules_have_every_function_behind_the_core() -> None:
    """Those that lists of their own had forgotten."""
    assert {"erf", "nn.gelu", "trunc", "nn.softplus", "tvmq.log_softmax", "repeat", "gather_nd"} <= integrality.LAST
    assert {"bitwise_not", "index_tensor", "dynamic_strided_slice"} <= integrality.INTEGER
    assert not integrality.LAST & {"matmul", "mean", "nn.avg_pool2d", "nn.layer_norm"}
