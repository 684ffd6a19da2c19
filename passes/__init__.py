"""The passes: one a file, each IRModule -> IRModule, each usable and printable alone.

PASSES names them in the order of the stages; OPS says which file treats an operator, FAMILIES the file of a family.
What they name is loaded on use.
"""

from __future__ import annotations

import importlib
from typing import Any

PASSES: dict[str, str] = {
    "prepare": "tvmq.passes.prepare:prepare",
    "equalize": "tvmq.passes.equalize:equalize",
    "scale_outliers": "tvmq.passes.scale_outliers:scale_outliers",
    "partition": "tvmq.passes.partition:partition",
    "annotate": "tvmq.passes.annotate:annotate",
    "unify_scales": "tvmq.passes.unify_scales:unify_scales",
    "round_biases": "tvmq.passes.round_biases:round_biases",
    "calibrate": "tvmq.passes.calibrate:calibrate",
    "round_weights": "tvmq.passes.round_weights:round_weights",
    "correct_bias": "tvmq.passes.correct_bias:correct_bias",
    "import_qdq": "tvmq.passes.import_qdq:import_qdq",
    "realize": "tvmq.passes.realize:realize",
    "quantize_dynamic": "tvmq.passes.quantize_dynamic:quantize_dynamic",
    "fold_constants": "tvmq.passes.fold_constants:fold_constants",
    "state_codes": "tvmq.passes.state_codes:state_codes",
    "pack_weights": "tvmq.passes.pack_weights:pack_weights",
    "partition_conversions": "tvmq.passes.partition_conversions:partition_conversions",
}

OPS: dict[str, str] = {
    "nn.conv1d": "tvmq.passes.families.conv1d:FAMILY",
    "nn.conv2d": "tvmq.passes.families.conv2d:FAMILY",
    "matmul": "tvmq.passes.families.matmul:FAMILY",
    "nn.conv3d": "tvmq.passes.families.conv3d:FAMILY",
    **dict.fromkeys(
        ("nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose"),
        "tvmq.passes.families.conv_transpose:FAMILY",
    ),
    "add": "tvmq.passes.families.add:FAMILY",
    "multiply": "tvmq.passes.families.multiply:FAMILY",
    "concat": "tvmq.passes.families.concat:FAMILY",
    "mean": "tvmq.passes.families.mean:FAMILY",
    **{
        f"nn.{kind}_pool{axes}d": "tvmq.passes.families.avg_pool:FAMILY"
        for kind in ("avg", "adaptive_avg")
        for axes in (1, 2, 3)
    },
    "sum": "tvmq.passes.families.mean:FAMILY",
    "subtract": "tvmq.passes.families.add:FAMILY",
    "divide": "tvmq.passes.families.scale_shift:FAMILY",
    "nn.prelu": "tvmq.passes.families.prelu:FAMILY",
    "stack": "tvmq.passes.families.concat:FAMILY",
    **dict.fromkeys(("maximum", "minimum", "where", "tvmq.tensor_scatter"), "tvmq.passes.families.select:FAMILY"),
    **dict.fromkeys(
        ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"), "tvmq.passes.families.compare:FAMILY"
    ),
    **dict.fromkeys(("broadcast_to", "tile", "take", "gather_elements", "flip"), "tvmq.passes.families.shape:FAMILY"),
    **dict.fromkeys(
        ("nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d", "max", "min"), "tvmq.passes.families.max_pool:FAMILY"
    ),
    **dict.fromkeys(
        ("reshape", "flatten", "permute_dims", "squeeze", "expand_dims", "split", "strided_slice"),
        "tvmq.passes.families.shape:FAMILY",
    ),
    "image.resize2d": "tvmq.passes.families.shape:FAMILY",
    "nn.pad": "tvmq.passes.families.shape:FAMILY",
    "tvmq.softmax": "tvmq.passes.families.integer_softmax:FAMILY",
    **dict.fromkeys(("tvmq.layer_norm", "tvmq.rms_norm"), "tvmq.passes.families.integer_layer_norm:FAMILY"),
}

FAMILIES = {
    **{target.split(".")[-1].split(":")[0]: target for target in OPS.values()},
    "dense": "tvmq.passes.families.dense:FAMILY",
    "table": "tvmq.passes.families.table:FAMILY",
    "pad": "tvmq.passes.families.pad:FAMILY",
    "embedding": "tvmq.passes.families.embedding:FAMILY",
    "masked_mean": "tvmq.passes.families.masked_mean:FAMILY",
}

# operators whose integer form is an approximation, and the option that asks for it
OPTIONAL: dict[str, str] = {
    "tvmq.softmax": "integer_softmax",
    **dict.fromkeys(("tvmq.layer_norm", "tvmq.rms_norm"), "integer_layer_norm"),
}


def load(target: str) -> Any:
    """The object that "module:object" names."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
