"""ONNX operators folded at import, compared with the same operators of inputs.

The cases are ONNX's own (onnx_cases.py), written down to each older opset in which their operator has a definition of
its own. With all inputs constant `fold_constants` computes the result; with what is data fed as an input, compiled code
does. A verdict is
    equal     both gave the same type, shape and numbers
    kept      the import leaves the node to the compiler
    alone     only folding can compute it, and gives what the case expects
    wrong     the two differ
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, defs, helper, numpy_helper

import tvmq
from tvmq.formats.onnx.importer.fold import fold_constants
from tvmq.formats.onnx.importer.load import NEWEST_OPSET, read_model
from tvmq.formats.onnx.importer.shapes import infer_shapes

if TYPE_CHECKING:
    from tests.support.onnx_cases import Case

EQUAL, KEPT, ALONE, WRONG = "equal", "kept", "alone", "wrong"
OLDEST = 7
LARGEST = 1 << 40


@dataclass(frozen=True)
class Fold:
    """A case in one opset, and whether folding and compiled code agree on it."""

    operator: str
    opset: int
    name: str
    status: str
    detail: str = ""


def opsets_of(operator: str, newest: int) -> list[int]:
    """Opsets from 7 on in which an operator has a definition of its own, the oldest being 7 itself."""
    since = {s.since_version for s in defs.get_all_schemas_with_history() if (s.name, s.domain) == (operator, "")}
    first = min(since, default=newest)
    own = {max(version, OLDEST) for version in since if version <= min(newest, NEWEST_OPSET)}
    return sorted(own | ({11} if first <= 11 <= newest else set()))  # the oldest that is not converted


def at_opset(model: onnx.ModelProto, values: dict[str, np.ndarray], opset: int) -> onnx.ModelProto | None:
    """The model of one node in another opset, None where ONNX's checker refuses it there.

    Inputs that were attributes then become attributes again.
    """
    node = model.graph.node[0]
    if not defs.has(node.op_type, max_inclusive_version=opset):
        return None
    schema: Any = defs.get_schema(node.op_type, max_inclusive_version=opset)
    now: Any = defs.get_schema(node.op_type, max_inclusive_version=next(o.version for o in model.opset_import))
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.opset_import[0].version = opset
    node = copy.graph.node[0]
    formal = [value.name for value in schema.inputs]
    for position in reversed(range(len(node.input))):
        role = now.inputs[min(position, len(now.inputs) - 1)].name
        if role in formal or role not in schema.attributes:
            continue
        value = values.get(node.input[position])
        if value is not None:
            if not value.size:
                return None
            node.attribute.append(helper.make_attribute(role, value.tolist()))
            kept = [one for one in copy.graph.input if one.name != node.input[position]]
            del copy.graph.input[:]
            copy.graph.input.extend(kept)
        del node.input[position]
    try:
        onnx.checker.check_model(copy, full_check=True)
    except Exception:  # noqa: BLE001  (the operator had no such type, attribute or input then)
        return None
    return copy


def constants(model: onnx.ModelProto, values: dict[str, np.ndarray]) -> onnx.ModelProto:
    """The model with all its inputs as initializers."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.initializer.extend(
        numpy_helper.from_array(np.asarray(values[value.name]), value.name) for value in model.graph.input
    )
    del copy.graph.input[:]
    return copy


def folded(model: onnx.ModelProto) -> dict[str, np.ndarray] | None:
    """The results that folding gives, None where a node is left."""
    model = fold_constants(infer_shapes(read_model(model)), LARGEST)
    if model.graph.node:
        return None
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def computed(model: onnx.ModelProto, values: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The results of compiled code."""
    mod, params = tvmq.from_onnx(model)
    executable = tvmq.build(mod, params=params)
    constant = {tensor.name for tensor in model.graph.initializer}
    feed = {value.name: values[value.name] for value in model.graph.input if value.name not in constant}
    return [np.asarray(result) for result in executable.run(feed)]


def difference(ours: np.ndarray, wanted: np.ndarray, case: Case) -> str:
    """Difference of two results, "" if there is none: integers to the last bit, floats within the case's tolerance."""
    if ours.dtype != wanted.dtype or ours.shape != wanted.shape:
        return f"{ours.dtype}{list(ours.shape)} for {wanted.dtype}{list(wanted.shape)}"
    if ours.dtype.kind == "f":
        close = np.isclose(ours, wanted, rtol=max(case.rtol, 1e-3), atol=max(case.atol, 1e-5), equal_nan=True)
    else:
        close = ours == wanted
    places = np.argwhere(~close)
    if not len(places):
        return ""
    place = tuple(places[0])
    return f"{len(places)} of {ours.size} differ, the first is {ours[place]} for {wanted[place]}"


def judge(case: Case, opset: int) -> Fold | None:
    """Fold and compute a case in one opset; None where it is no case then."""
    values = _named_inputs(case)
    model = at_opset(case.model, values, opset)
    if model is None:
        return None

    def fold(status: str, detail: str = "") -> Fold:
        return Fold(case.operator, opset, case.name, status, detail)

    try:
        ours = folded(constants(model, values))
    except tvmq.errors.TvmqError as error:
        return fold(KEPT, str(error))
    if ours is None:
        return fold(KEPT)

    def beside(wanted: Sequence[np.ndarray], status: str) -> Fold:
        names = [value.name for value in model.graph.output]
        differences = [difference(ours[name], np.asarray(one), case) for name, one in zip(names, wanted, strict=True)]
        return fold(WRONG, "; ".join(filter(None, differences))) if any(differences) else fold(status)

    forms = [model, _bound(model, values)]
    for form in filter(None, forms):
        try:
            return beside(computed(form, values), EQUAL)
        except tvmq.errors.TvmqError:
            continue
    return beside(case.data[0][1], ALONE)


def _bound(model: onnx.ModelProto, values: dict[str, np.ndarray]) -> onnx.ModelProto | None:
    """The model with all inputs but the first constant."""
    if len(model.graph.input) < 2:
        return None
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    first, *others = list(model.graph.input)
    del copy.graph.input[1:]
    copy.graph.initializer.extend(numpy_helper.from_array(np.asarray(values[v.name]), v.name) for v in others)
    return copy


def is_foldable(case: Case) -> bool:
    """True for cases of one node with arrays alone, on one set of data."""
    graph = case.model.graph
    arrays = [*case.data[0][0], *case.data[0][1]] if len(case.data) == 1 else [None]
    plain = all(isinstance(x, np.ndarray | np.generic) and np.asarray(x).dtype.kind in "biuf" for x in arrays)
    tensors = all(v.type.tensor_type.elem_type != TensorProto.STRING for v in [*graph.input, *graph.output])
    whole = len(graph.input) == len(case.data[0][0])
    return (
        "_expanded" not in case.name
        and plain
        and tensors
        and whole
        and len(graph.node) == 1
        and graph.node[0].domain == ""
    )


def sample(cases: Sequence[Case]) -> list[Case]:
    """A case of every operator that can be folded: of float32 where there is one, with a form in most opsets."""
    found: dict[str, Case] = {}
    for case in sorted(filter(is_foldable, cases), key=lambda case: (not case.is_float32, -_forms(case), case.name)):
        found.setdefault(case.operator, case)
    return sorted(found.values(), key=lambda case: case.name)


def _named_inputs(case: Case) -> dict[str, np.ndarray]:
    return {v.name: x for v, x in zip(case.model.graph.input, case.data[0][0], strict=True)}


def _forms(case: Case) -> int:
    """Number of opsets that have a form of the case."""
    values = _named_inputs(case)
    opsets = opsets_of(case.operator, case.model.opset_import[0].version)
    return sum(at_opset(case.model, values, opset) is not None for opset in opsets)


def tasks(cases: Sequence[Case]) -> list[tuple[Case, int]]:
    """Cases that can be folded, each with all opsets of its operator."""
    return [
        (case, opset)
        for case in filter(is_foldable, cases)
        for opset in opsets_of(case.operator, case.model.opset_import[0].version)
    ]


def judge_all(cases: Sequence[Case], advance: Callable[[], None] = lambda: None) -> Iterator[Fold]:
    """All cases in all their opsets."""
    for case, opset in tasks(cases):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            fold = judge(case, opset)
        advance()
        if fold is not None:
            yield fold
