"""Results in codes: of backends that write codes alone, and of no others."""

from __future__ import annotations

import numpy as np
import pytest
from formats.exporting.formats_networks import quantized

import tvmq
from tvmq.backends.description import Backend
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.graph.module_functions import function_module
from tvmq.graph.view import View, dtype_of, op_name


def results(qmod: object) -> list[str]:
    """Element types of what the core gives."""
    view = View(function_module(qmod, "quantized_main"))
    return [dtype_of(view.var[name]) for name in view.outputs]


@pytest.mark.slow
def test_the_last_layer_gives_codes_where_the_backend_says_so() -> None:
    assert results(quantized("plain", "cpu", requantize="fixed_point")[0]) == ["int32"]
    assert results(quantized("plain", "tflite")[0]) == ["int8"]
    chip = Backend("chip", requantize=("fixed_point",), activations=("int8",),
                   operators=(OperatorEntry(("*",), output=("int8",)),))  # fmt: skip
    assert results(quantized("plain", chip)[0]) == ["int8"]


@pytest.mark.slow
def test_sums_of_two_tensors_as_tflite_adds_them() -> None:
    """Compiled code equals the definition."""
    qmod, feeds = quantized("residual", "tflite")
    names = [op_name(value) for _, value in View(qmod).bindings]
    assert "tvmq.add" not in names and names.count("tvmq.table") == 4
    exe = tvmq.build(qmod)
    assert tvmq.verify(exe, feeds[:2]).exact
    assert np.isfinite(exe.run(feeds[0])[0]).all()
