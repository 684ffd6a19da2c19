"""Inputs that are always the same, such as a sampling rate: constants, so that branches on them are known."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.base.text import printable_name
from tvmq.errors import ModelError
from tvmq.formats.onnx.importer.shapes import graph_inputs

if TYPE_CHECKING:
    import onnx


def fix_inputs(model: onnx.ModelProto, values: Mapping[str, Any]) -> onnx.ModelProto:
    """The model with these inputs as constants (in place).

    values  {input: value}
    raises  ModelError for an input that the model does not have, and for a value of another type or shape
    """
    from onnx import helper, numpy_helper

    inputs = {tensor.name: tensor for tensor in graph_inputs(model.graph)}
    for name, value in values.items():
        if name not in inputs:
            close = get_close_matches(str(name), inputs, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else f"; it has {', '.join(map(printable_name, inputs))}"
            raise ModelError(f"from_onnx: values: the model has no input '{name}'{hint}")
        kind = inputs[name].type.tensor_type
        wanted = np.dtype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
        array = np.asarray(value)
        sizes = [dim.dim_value for dim in kind.shape.dim] if kind.HasField("shape") else list(array.shape)
        fits = array.ndim == len(sizes) and all(size in (0, own) for size, own in zip(sizes, array.shape, strict=False))
        if not fits or not np.can_cast(array.dtype, wanted, "same_kind"):
            raise ModelError(
                f"from_onnx: values: input '{name}' is {wanted} {sizes}. Got {array.dtype} {list(array.shape)} instead"
            )
        model.graph.initializer.append(numpy_helper.from_array(array.astype(wanted), name))
    kept = [tensor for tensor in model.graph.input if tensor.name not in values]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return model
