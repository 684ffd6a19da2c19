"""Tasks of heads: networks written node by node, judged by the boxes or values of the float model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from harness.model import onnx_model
from harness.zoo import Feed, Predict

from tvmq.quantization.meaning.boxes import Detections, box_f1

Decode = Callable[[Sequence[np.ndarray]], list[Detections]]
NEAR = 0.1  # a value is right within it


class Network:
    """An ONNX network of one input, "x", written node by node; arrays among the arguments become constants."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self._result = ""

    def add(self, operator: str, *inputs: str | np.ndarray | np.generic, **attributes: Any) -> str:
        """A node; the name of its result."""
        return self.outputs(operator, 1, *inputs, **attributes)[0]

    def outputs(
        self, operator: str, count: int, *inputs: str | np.ndarray | np.generic, **attributes: Any
    ) -> list[str]:
        """A node of several results."""
        from onnx import helper

        number = len(self.nodes)
        names = [self._name(one, f"c{number}_{place}") for place, one in enumerate(inputs)]
        results = [f"{operator.lower()}{number}" + (f"_{i}" if i else "") for i in range(count)]
        self.nodes.append(helper.make_node(operator, names, results, name=f"/{results[0]}", **attributes))
        return results

    def _name(self, value: str | np.ndarray | np.generic, name: str) -> str:
        if isinstance(value, str):
            return value
        self.constants[name] = np.asarray(value)
        return name

    def silu(self, x: str) -> str:
        """x * sigmoid(x)."""
        return self.add("Mul", x, self.add("Sigmoid", x))

    def split(self, x: str, size: int) -> list[str]:
        """Two parts of axis 1."""
        return self.outputs("Split", 2, x, np.array([size, size]), axis=1)

    def end(self, result: str) -> Network:
        """The network, which ends with this result."""
        self._result = result
        return self

    def model(self, shape: Sequence[int]) -> Any:
        """The ONNX model of one sample of this shape."""
        from onnx import helper

        nodes = [*self.nodes, helper.make_node("Identity", [self._result], ["y"], name="/y")]
        return onnx_model(nodes, {"x": [1, *shape]}, self.constants)


@dataclass(eq=False)
class HeadTask:
    """A network and its data, in the form of the zoo's tasks; the first model that is evaluated says what is right.

    model_path    bytes of the ONNX file
    data, tests   inputs to calibrate with, and to score with
    decode        outputs -> detections of each sample; None: numbers, right within NEAR
    per_sample    scores of the last `evaluate`: F1 of the boxes, or share of right numbers
    """

    name: str
    model_path: Any
    data: np.ndarray
    tests: np.ndarray
    decode: Decode | None
    input_name: str = "x"
    metric: str = "agreement"
    per_sample: np.ndarray = field(default_factory=lambda: np.zeros(0))
    right: list[Any] = field(default_factory=list)

    def calibration(self, batch: int = 1, limit: int | None = None) -> Iterator[Feed]:
        """Yield the calibration samples, one by one: the network takes no others."""
        return ({self.input_name: one[None]} for one in self.data[:limit])

    def test_inputs(self, batch: int = 1) -> Iterator[Feed]:
        """Yield the test samples, one by one."""
        return ({self.input_name: one[None]} for one in self.tests)

    def evaluate(self, predict: Predict, batch: int = 1) -> float:
        """Mean score."""
        results = [self._read(predict(feed)) for feed in self.test_inputs()]
        self.right = self.right or results
        self.per_sample = np.array([self._score(*pair) for pair in zip(self.right, results, strict=True)])
        return float(self.per_sample.mean())

    def _read(self, outputs: Sequence[np.ndarray]) -> Any:
        return np.array(outputs[0]) if self.decode is None else self.decode(outputs)[0]

    def _score(self, wanted: Any, got: Any) -> float:
        if self.decode is None:
            return float((np.abs(wanted - got) < NEAR).mean())
        return box_f1([wanted], [got])
