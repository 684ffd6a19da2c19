"""Interface of a library: inputs and outputs, dynamic dimensions, inputs that are indices.

Tests: tests/library/test_dynamic_library.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.errors import ConfigError
from tvmq.graph.size_text import shape_text
from tvmq.graph.view import View, flatten_tuples
from tvmq.library.size_expressions import Unknown, number_of
from tvmq.library.size_table import ALIGNMENT, OutOfRange, SizeTable, value_of
from tvmq.runtime.artifact.model_description import Description
from tvmq.state.model_states import ModelStates
from tvmq.state.state_tensor import StateTensor

# Sizes of dynamic dimensions that a self-test may have; the first that the model takes
USUAL = (16, 32, 8, 64, 128, 256)


@dataclass(frozen=True)
class Dimension:
    """A dynamic dimension: its size may be least .. most, all of them multiples of a number."""

    name: str
    least: int
    most: int
    multiple: int = 1

    @classmethod
    def of_limit(cls, name: str, least: int, most: int, multiple: int = 1, **_: Any) -> Dimension:
        """The dimension of a limit as a description has it.

        >>> Dimension.of_limit("rows", least=1, most=100, multiple=16, why="")
        Dimension(name='rows', least=16, most=96, multiple=16)
        """
        return cls(name, -(-least // multiple) * multiple, most // multiple * multiple, multiple)

    def range_text(self) -> str:
        """Sizes that it may have.

        >>> Dimension("rows", 16, 96, 16).range_text()
        '16 to 96, multiples of 16'
        """
        return f"{self.least} to {self.most}" + (f", multiples of {self.multiple}" if self.multiple > 1 else "")


@dataclass(frozen=True)
class IndexInput:
    """An input that counts elements: its values in turn are below numbers of sizes."""

    input: int
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Interface:
    """Names and hashes that the library tells.

    inputs, outputs  as a description has them, with "alignment"
    shapes, bytes    numbers of their sizes and bytes, inputs first
    batch_axes       axis of each, of the dimension whose samples are run one after the other; None if it has none
    sizes            the table of these numbers, with which that of each code begins
    dimensions       in the order of the table
    batch            number of the dimension of samples; None if all are computed at once
    indices          inputs that are indices
    usual            {dimension: size} of a self-test
    states           outputs that are inputs of the next call
    """

    name: str
    model_hash: str
    code_hash: str
    inputs: Sequence[Mapping[str, Any]]
    outputs: Sequence[Mapping[str, Any]]
    shapes: Sequence[tuple[int, ...]]
    bytes: Sequence[int]
    batch_axes: Sequence[int | None]
    sizes: SizeTable
    dimensions: Sequence[Dimension] = ()
    batch: int | None = None
    indices: Sequence[IndexInput] = ()
    usual: Mapping[str, int] = field(default_factory=dict)
    states: Sequence[StateTensor] = ()

    @property
    def tensors(self) -> list[Mapping[str, Any]]:
        """Inputs and outputs."""
        return [*self.inputs, *self.outputs]

    def shapes_at(self, sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
        """Shapes of inputs and outputs for sizes of the dynamic dimensions."""
        values = self.sizes.values(sizes)
        return [tuple(value_of(number, values) for number in shape) for shape in self.shapes]


def describe_interface(
    name: str, model_hash: str, plain: tvm.IRModule, description: Description, unaligned: Sequence[int]
) -> Interface:
    """The interface of a module, without the hash of its code.

    unaligned  numbers of the inputs that begin at any address
    raises     ConfigError for an output of a size that no input tells
    """
    view = View(plain)
    table = SizeTable(tuple(description.limits))
    exprs = [*view.params.values(), *flatten_tuples([view.func.body.body])]
    shapes = [_shape(table, expr) for expr in exprs]
    inputs = [
        {**tensor, "alignment": np.dtype(tensor["dtype"]).itemsize if number in unaligned else ALIGNMENT}
        for number, tensor in enumerate(description.inputs)
    ]
    outputs = [{**tensor, "alignment": ALIGNMENT} for tensor in description.outputs]
    tensors = [*inputs, *outputs]
    sizes = [
        table.multiply([*shape, np.dtype(tensor["dtype"]).itemsize])
        for shape, tensor in zip(shapes, tensors, strict=True)
    ]
    batch = table.dimensions.index(description.batch) if description.batch else None
    axes = [_axis_of(table, shape, batch) for shape in shapes]
    dimensions = [Dimension.of_limit(name, **limit) for name, limit in description.limits.items()]
    if batch is not None and None in axes[len(inputs) :]:  # what no sample computes needs one all the same
        one = dimensions[batch]
        dimensions[batch] = replace(one, least=max(one.least, 1))
    names = [tensor["name"] for tensor in inputs]
    indices = [
        IndexInput(names.index(use["input"]), tuple(_size(table, size) for size in use["sizes"]))
        for use in description.indices
    ]
    return Interface(
        name, model_hash, "", inputs, outputs, shapes, sizes, axes, table, dimensions, batch, indices,
        states=ModelStates.from_json(description.state).tensors,
    )  # fmt: skip


def usual_sizes(interface: Interface) -> list[dict[str, int]]:
    """Sizes that a self-test may have, best first: one sample, the other dimensions equal as far as limits allow."""
    candidates: list[dict[str, int]] = []
    for usual in USUAL:
        sizes = {}
        for number, dimension in enumerate(interface.dimensions):
            wanted = 1 if number == interface.batch else -(-usual // dimension.multiple) * dimension.multiple
            sizes[dimension.name] = min(max(wanted, dimension.least), dimension.most)
        try:
            interface.sizes.values(sizes)
        except OutOfRange:
            continue
        if sizes not in candidates:
            candidates.append(sizes)
    return candidates


def _shape(table: SizeTable, expr: relax.Expr) -> tuple[int, ...]:
    try:
        numbers = [number_of(table, size, lambda var: table.dimension(str(var.name))) for size in expr.ty.shape]
        return tuple(map(table.length, numbers))
    except (Unknown, KeyError) as error:
        raise ConfigError(
            f"export_library: the shape {shape_text(expr.ty.shape)} does not follow from the sizes of the inputs "
            f"({error.args[0]}); fix them with tvmq.build(..., sizes={{name: number}})"
        ) from error


def _size(table: SizeTable, size: int | str) -> int:
    return size if isinstance(size, int) else table.dimension(size)


def _axis_of(table: SizeTable, shape: Sequence[int], batch: int | None) -> int | None:
    """The axis that is the dimension of samples, or a multiple of it."""
    return next((axis for axis, number in enumerate(shape) if batch is not None and table.uses(number, batch)), None)
