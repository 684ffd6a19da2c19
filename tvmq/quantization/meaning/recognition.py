"""Recognition of what outputs mean, by the structure of the float module.

    rows behind topk, sort, suppression      detections, sorted
    concat of 4 columns and class scores     detections of a dense head
    [batch, n, 4] beside [batch, n, classes] detections of a dense head, in two outputs or with others beside
    as many outputs for each scale           detections of a dense head in several outputs (scales.py)
    sigmoid map, other maps of its size      a heat map, and what is read at its peaks
    softmax                                  classes; in the last axis of three a sequence, in axis 1 of maps masks
    sigmoid map alone                        a mask
    x / norm(x)                              an embedding
    all others                               numbers

Structure proposes; the float model's outputs decide (`Reading.fit`), as whether there are columns of boxes at all.

Tests: tests/quantization/meaning/test_recognition.py
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import tvm
from tvm import relax

from tvmq.errors import ConfigError
from tvmq.graph.names import output_names
from tvmq.graph.operators import where
from tvmq.graph.operators.record import BROADCAST, GATHER, ORDER, RESHAPE, SLICE, TRANSPOSE
from tvmq.graph.view import View, dtype_of, op_name, sizes_of, used_vars
from tvmq.quantization.meaning.detections import DetectionReading
from tvmq.quantization.meaning.peaks import PeakReading
from tvmq.quantization.meaning.reading import Outputs, Reading
from tvmq.quantization.meaning.scales import MOST_LANDMARKS, ScaledHead, find_levels, is_width_of_bins
from tvmq.quantization.meaning.value_readings import (
    ClassReading,
    EmbeddingReading,
    MaskReading,
    NumberReading,
    SequenceReading,
)

ORDERING = where(kind=ORDER, elementwise=False, commutes_with_quantize=False)
LOOKUPS = frozenset(("argmax", "argmin"))
SOFTMAX = frozenset(("tvmq.softmax", "nn.softmax", "nn.log_softmax"))
MOVED = where(form=RESHAPE) | where(form=TRANSPOSE) | where(form=SLICE) | where(form=BROADCAST) | where(form=GATHER)
KINDS = ("detections", "heatmap", "classes", "sequence", "mask", "embedding", "numbers")
BOX = 4  # coordinates
ROW = 6  # columns of a sorted detection at least: a box, a score, a class
Sizes = tuple[int | str, ...]


def read_outputs(module: tvm.IRModule, kinds: Mapping[str, str] | None = None) -> list[Reading]:
    """Readings of the float outputs of a float module; each output has one at most.

    kinds   {name of an output: one of KINDS} where the user knows better
    raises  ConfigError for an unknown output or kind

    A kind of several outputs, such as "heatmap" or "detections", takes those that belong to it.
    """
    view = View(module)
    outputs = _Outputs(view, output_names(view.func, len(view.outputs)))
    kinds = dict(kinds or {})
    _check_kinds(kinds, outputs.names)
    readings: list[Reading] = []
    for reading in (*outputs.by_user(kinds), *outputs.by_structure(kinds)):
        known = {index for one in readings for index in one.outputs}
        if known.isdisjoint(reading.outputs):
            readings.append(reading)
    return readings


def ordered_outputs(module: tvm.IRModule) -> set[int]:
    """Positions of the outputs that stand behind an ordering of values, argmax among them."""
    view = View(module)
    behind = results_behind(view, ORDERING)
    return {index for index, name in enumerate(view.outputs) if name in behind}


def results_behind(view: View, operators: Iterable[str]) -> set[str]:
    """Results of these operators and all that is made of them."""
    operators, behind = frozenset(operators), set[str]()
    for var, value in view.bindings:
        if op_name(value) in operators or not behind.isdisjoint(used_vars(value)):
            behind.add(var.name)
    return behind


def _check_kinds(kinds: Mapping[str, str], names: Sequence[str]) -> None:
    """raises  ConfigError for an output or a kind that does not exist"""
    for name, kind in kinds.items():
        if name not in names:
            raise ConfigError(f"outputs: there is no output '{name}'; the model has {', '.join(names)}")
        if kind not in KINDS:
            raise ConfigError(f"outputs: '{name}' is read as one of {', '.join(KINDS)}. Got {kind!r} instead")


class _Outputs:
    """Outputs of a module with their sizes and what they are made of."""

    def __init__(self, view: View, names: Sequence[str]) -> None:
        self.view, self.names = view, names
        self.sizes: dict[int, Sizes] = {
            index: sizes_of(view.var[name])
            for index, name in enumerate(view.outputs)
            if isinstance(view.var[name].ty, relax.TensorType)
        }
        self.floats = [index for index in self.sizes if dtype_of(view.var[view.outputs[index]]) == "float32"]
        behind = results_behind(view, ORDERING - LOOKUPS)
        self.ordered = {index for index in self.sizes if view.outputs[index] in behind}

    def origin(self, index: int) -> str:
        """Operator that computes an output, behind moves of its elements."""
        name = self.view.outputs[index]
        return op_name(self.view.value.get(_find_origin(self.view, name)))

    def by_user(self, kinds: Mapping[str, str]) -> Iterator[Reading]:
        """Readings that the user named."""
        for name, kind in kinds.items():
            reading = self.read_as(self.names.index(name), kind, {self.names.index(other) for other in kinds})
            yield replace(reading, by_user=True)

    def by_structure(self, kinds: Mapping[str, str]) -> Iterator[Reading]:
        """Readings of the outputs that the user did not name, those of several outputs first."""
        rest = [index for index in self.floats if self.names[index] not in kinds]
        yield from self._find_sorted(rest)
        yield from self._find_dense(rest)
        yield from self._find_scales(rest)
        for index in rest:
            if self.origin(index) == "sigmoid" and len(self.sizes[index]) == 4 and self._maps_beside(index, rest):
                yield PeakReading((index, *self._maps_beside(index, rest)))
        for index in rest:
            kind = self._kind_alone(index)
            if kind and index not in self.ordered:
                yield self.read_as(index, kind, set())

    def read_as(self, index: int, kind: str, others: set[int]) -> Reading:
        """An output as the user names it, with those that belong to it and have no kind of their own."""
        if kind == "heatmap":
            rest = [other for other in self.floats if other not in others]
            return PeakReading((index, *self._maps_beside(index, rest)))
        if kind == "detections":
            rest = [i for i in self.sizes if i == index or i not in others]
            proposed = (*self._find_sorted(rest), *self._find_dense(rest), *self._find_scales(rest))
            known = (one for one in proposed if index in one.outputs)
            return next(known, DetectionReading((index,), doubles=index not in self.ordered, channels=-1))
        single = (ClassReading, SequenceReading, MaskReading, EmbeddingReading, NumberReading)
        return {one.kind: one for one in single}[kind]((index,))

    def _find_sorted(self, among: Sequence[int]) -> Iterator[DetectionReading]:
        """Rows behind an ordering, in one output or as boxes, scores and classes."""
        rows = [index for index in self.sizes if index in self.ordered and (index in among or index not in self.floats)]
        for index in rows:
            sizes = self.sizes[index]
            if self._is_ordered_itself(index):  # the highest scores, such as [batch, 20]
                continue
            if index in self.floats and len(sizes) in (2, 3) and isinstance(sizes[-1], int) and sizes[-1] >= ROW:
                yield DetectionReading((index,), doubles=False)
            elif index in self.floats and len(sizes) in (2, 3) and sizes[-1] == BOX:
                beside = [i for i in rows if self.sizes[i] in (sizes[:-1], (*sizes[:-1], 1))]
                scores = [i for i in beside if i in self.floats and not self._is_whole(i)]
                labels = [i for i in beside if i not in scores]
                if len(scores) == 1:
                    yield DetectionReading((index, scores[0], *labels[:1]), doubles=False)

    def _is_ordered_itself(self, index: int) -> bool:
        """True where the last axis of an output is that along which an ordering sorts: its columns are no row's."""
        value = self.view.value.get(_find_origin(self.view, self.view.outputs[index]))
        if not isinstance(value, relax.TupleGetItem) or not isinstance(value.tuple_value, relax.Var):
            return False
        return len(self.sizes[index]) == 2 and op_name(self.view.value.get(value.tuple_value.name)) in ORDERING

    def _is_whole(self, index: int) -> bool:
        """True for floats that were made of integers."""
        name = _find_origin(self.view, self.view.outputs[index])
        value = self.view.value.get(name)
        source = value.args[0] if value is not None and op_name(value) == "astype" else None
        return source is not None and "int" in dtype_of(source)

    def _find_dense(self, among: Sequence[int]) -> Iterator[DetectionReading]:
        """Heads with a row for each place: columns concatenated in one output, or boxes beside scores."""
        three = [i for i in among if i in self.floats and len(self.sizes[i]) == 3 and i not in self.ordered]
        for index in three:
            for channels in (1, 2):
                parts = column_parts(self.view, self.view.outputs[index], channels)
                if len(parts) > 1 and BOX in itertools.accumulate(parts):
                    yield DetectionReading((index,), channels=channels - 3, sizes=tuple(parts))
                elif channels == 2 and len(parts) == 2 and any(is_width_of_bins(one) for one in parts):
                    yield DetectionReading((index,), scales=ScaledHead(((index,),)))
        for index in three:
            beside = [i for i in three if i != index and self.sizes[i][:2] == self.sizes[index][:2]]
            scores = self._scores_beside(index, beside)
            if scores is not None:
                others = [i for i in beside if i != scores]
                yield DetectionReading((index, scores, *others))

    def _scores_beside(self, index: int, beside: Sequence[int]) -> int | None:
        """Position of the scores of boxes [batch, n, 4], or of 4 and x and y of landmarks beside [batch, n, 1]."""
        width = self.sizes[index][2]
        if not isinstance(width, int):
            return None
        if width == BOX:
            shares = [i for i in beside if self.origin(i) == "sigmoid" or self.origin(i) in SOFTMAX]
            few = shares or [i for i in beside if self.sizes[i][2] in (1, 2)]
            return beside[0] if len(beside) == 1 else few[0] if len(few) == 1 else None
        has_landmarks = width % 2 == 0 and BOX < width <= BOX + 2 * MOST_LANDMARKS
        return beside[0] if has_landmarks and len(beside) == 1 and self.sizes[beside[0]][2] == 1 else None

    def _find_scales(self, among: Sequence[int]) -> Iterator[DetectionReading]:
        """Heads with outputs of their own for each scale."""
        sizes = {i: self.sizes[i] for i in among if i in self.floats and i not in self.ordered}
        for levels in find_levels(sizes):
            yield DetectionReading(tuple(itertools.chain(*levels)), scales=ScaledHead(levels))

    def _maps_beside(self, index: int, among: Sequence[int]) -> list[int]:
        """Other maps of the height and width of an output, which are no sigmoids themselves."""
        sizes = self.sizes[index]
        return [
            other
            for other in among
            if other != index
            and len(self.sizes[other]) == 4
            and self.sizes[other][2:] == sizes[2:]
            and self.origin(other) != "sigmoid"
        ]

    def _kind_alone(self, index: int) -> str:
        """Kind of an output that is read by itself; "" where nothing shows one."""
        operator, rank = self.origin(index), len(self.sizes[index])
        if operator in SOFTMAX:
            return {2: "classes", 3: "sequence", 4: "mask"}.get(rank, "")
        if operator == "sigmoid" and rank == 4:
            return "mask"
        return "embedding" if operator == "divide" and rank == 2 and self._has_norm(index) else ""

    def _has_norm(self, index: int) -> bool:
        """True for x / y, where y is a root made of x."""
        view = self.view
        value = view.value[_find_origin(view, view.outputs[index])]
        waiting = [arg.name for arg in value.args[1:] if isinstance(arg, relax.Var)]
        for _ in range(6):
            operators = {op_name(view.value.get(name)) for name in waiting}
            if operators & {"sqrt", "norm"}:
                return True
            waiting = [name for one in waiting if one in view.value for name in used_vars(view.value[one])]
        return False


def _find_origin(view: View, name: str) -> str:
    """Tensor whose elements a tensor has, in another order or shape."""
    while op_name(view.value.get(name)) in MOVED and isinstance(view.value[name].args[0], relax.Var):
        name = view.value[name].args[0].name
    return name


def column_parts(view: View, name: str, axis: int) -> list[int]:
    """Sizes of the tensors that a tensor of three axes is concatenated of along `axis`, seen through moves.

    Empty where that cannot be told. Of pieces for each scale, concatenated along another axis, the first one is seen.
    """
    size = sizes_of(view.var[name])[axis]
    for _ in range(8):
        if name not in view.value:
            return []
        value = view.value[name]
        operator = op_name(value)
        if operator == "concat":
            pieces = list(value.args[0].fields)
            sizes = [sizes_of(piece)[int(value.attrs.axis)] for piece in pieces]
            if all(isinstance(one, int) for one in sizes) and sum(sizes) == size:  # type: ignore[arg-type]
                return [int(one) for one in sizes]
            name = next((piece.name for piece in pieces if isinstance(piece, relax.Var)), "")
        elif operator in MOVED and isinstance(value.args[0], relax.Var):
            name = value.args[0].name
        else:
            return []
    return []


def fit_readings(readings: Iterable[Reading], wanted: Sequence[Outputs]) -> list[Reading]:
    """The readings that float's outputs fit, each with what it learned from them.

    wanted  outputs of the float model for some batches of samples
    """
    return [known for known in (reading.fit(wanted) for reading in readings) if known is not None]
