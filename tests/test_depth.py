"""Long chains of operators: no stage recurses over depth, and the work grows linearly with their number."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model

LONGER_THAN_THE_STACK = 1200
# one round of each kind: (operator, further inputs, attributes)
Step = tuple[str, list[str], dict[str, Any]]
KINDS: dict[str, list[Step]] = {
    "relu": [("Relu", [], {})],
    "add": [("Add", ["small"], {})],
    "sine": [("Sin", [], {})],
    "functions": [("Sigmoid", [], {}), ("Relu", [], {}), ("Tanh", [], {})],
    "moves": [("Reshape", ["column"], {}), ("Transpose", [], {"perm": [1, 0]}), ("Reshape", ["row"], {})],
    "factors": [("Mul", ["half"], {}), ("Mul", ["two"], {})],
    "mixed": [
        *(("Relu", [], {}), ("Add", ["small"], {}), ("Mul", ["vector"], {}), ("Sigmoid", [], {})),
        *(("Reshape", ["column"], {}), ("Transpose", [], {"perm": [1, 0]}), ("Sub", ["vector"], {}), ("Clip", [], {})),
    ],
}
CONSTANTS = {
    "small": np.float32(0.001),
    "half": np.float32(0.5),
    "two": np.float32(2),
    "vector": np.array([0.9, 1.1, 1.0, 0.95], np.float32),
    "column": np.array([4, 1]),
    "row": np.array([1, 4]),
    "weight": np.eye(4, dtype=np.float32),
}


def chain(kind: str, length: int, *, seeds: bool = False) -> onnx.ModelProto:
    """A chain of so many operators; seeds: a product before them and one after."""
    steps = [KINDS[kind][i % len(KINDS[kind])] for i in range(length)]
    if seeds:
        steps = [("MatMul", ["weight"], {}), *steps, ("MatMul", ["weight"], {})]
    nodes, names = [], ["x", *(f"t{i}" for i in range(len(steps) - 1)), "y"]
    for number, (operator, more, attributes) in enumerate(steps):
        nodes.append(helper.make_node(operator, [names[number], *more], [names[number + 1]], **attributes))
    used = {name for node in nodes for name in node.input}
    weights = {name: array for name, array in CONSTANTS.items() if name in used}
    return make_model(nodes, {"x": (1, 4)}, ["y"], weights, 17)


FEED = {"x": np.array([[0.5, -0.25, 1.5, 0.75]], np.float32)}


def walk_the_road(model: onnx.ModelProto) -> None:
    """Import, quantize, build and run; code equals definition."""
    mod, params = tvmq.from_onnx(model)
    quantized = tvmq.quantize(mod, params, [FEED])
    assert np.array_equal(tvmq.build(quantized).run(FEED)[0], tvmq.reference.run(quantized, FEED)[0])


@pytest.mark.parametrize("kind", ["add", pytest.param("moves", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_quantize_chains_longer_than_the_stack(kind: str) -> None:
    assert sys.getrecursionlimit() <= LONGER_THAN_THE_STACK
    mod, params = tvmq.from_onnx(chain(kind, LONGER_THAN_THE_STACK))
    quantized = tvmq.quantize(mod, params, [FEED])
    assert len(quantized["main"].body.blocks[0].bindings) >= LONGER_THAN_THE_STACK


@pytest.mark.slow
def test_mixed_chain_longer_than_the_stack() -> None:
    walk_the_road(chain("mixed", LONGER_THAN_THE_STACK))


@pytest.mark.slow
def test_float_build_of_a_long_chain_of_functions() -> None:
    mod, params = tvmq.from_onnx(chain("functions", LONGER_THAN_THE_STACK, seeds=True))
    start = time.process_time()
    executable = tvmq.build(mod, params=params)
    assert time.process_time() - start < 60  # 12 s; without end while functions were written into each other
    assert np.array_equal(executable.run(FEED)[0], tvmq.reference.run(executable.module, FEED)[0])


@pytest.mark.slow
def test_ten_thousand_operators() -> None:
    walk_the_road(chain("add", 10_000))


@pytest.mark.slow
@pytest.mark.parametrize("kind,seeds", [("add", True), ("factors", True), ("moves", False), ("sine", True)])
def test_quantize_takes_steps_in_line_with_the_length(kind: str, seeds: bool) -> None:
    short, long = (_steps_to_quantize(chain(kind, length, seeds=seeds)) for length in (40, 100))
    longest = _steps_to_quantize(chain(kind, 160, seeds=seeds))
    assert longest - long < 1.1 * (long - short)  # twice 60 operators more


def _steps_to_quantize(model: onnx.ModelProto) -> int:
    """Calls of Python functions."""
    mod, params = tvmq.from_onnx(model)
    count = 0

    def called(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        with tvmq.qconfig(calibrate_mode="global_scale"):
            tvmq.quantize(mod, params)
    finally:
        sys.setprofile(before)
    return count
