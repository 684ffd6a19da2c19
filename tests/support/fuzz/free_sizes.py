"""A fuzz case of free sizes: dimensions of the inputs are dynamic, and the model runs with sizes of all kinds.

    model, known = free_model(seed)
    outcome = run_free(model, free_feeds(model, known, seed, 6), activations="static")

Every third seed takes a wild model (graphs.py), one that people train (random/graphs.py) and one that computes shapes
from sizes (computed_sizes.py). Outcomes are those of case.py. A size may be refused by a DataError, also where
onnxruntime computes something; where it refuses a size, so must tvmq.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.support.fuzz.case import Failed, Outcome, Stage, check_float, check_integer, check_ledger
from tests.support.fuzz.computed_sizes import computed_model
from tests.support.fuzz.graphs import fuzz_model
from tests.support.fuzz.room import Feed, onnxruntime_results
from tests.support.models.free_layers import draw_size
from tests.support.random.graphs import BELOW, random_model

LARGEST = 24
Known = Mapping[str, int]  # a size of each dynamic dimension that the model was made for


def free_model(seed: int) -> tuple[onnx.ModelProto, Known]:
    """A model of dynamic dimensions."""
    random = np.random.default_rng(seed)
    if seed % 3 == 2:
        return computed_model(seed), {"batch": 1, "rows": 8, "columns": 8, "others": 8}
    model = fuzz_model(seed) if seed % 3 == 0 else random_model(seed)
    known: dict[str, int] = {}
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_value < 1 or random.random() > (0.8 if axis == 0 else 0.5):
                continue
            alike = [name for name, size in known.items() if size == dim.dim_value and name[0] == "ab"[axis > 0]]
            name = alike[0] if alike and random.random() < 0.7 else f"{'ab'[axis > 0]}{len(known)}"
            known[name] = dim.dim_value
            dim.dim_param = name
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    _remove_unread(model.graph)
    return model, known


def _remove_unread(graph: onnx.GraphProto) -> None:
    """Leave out nodes whose results nobody reads: onnxruntime may refuse sizes for them alone."""
    read = {output.name for output in graph.output}
    for node in reversed(list(graph.node)):
        if read.isdisjoint(node.output):
            graph.node.remove(node)
        else:
            read.update(node.input)


def free_feeds(model: onnx.ModelProto, known: Known, seed: int, count: int) -> list[Feed]:
    """Inputs, the first two of the known sizes, the others of sizes that nobody promised."""
    random = np.random.default_rng(seed)
    feeds = []
    for number in range(count):
        sizes = {name: size if number < 2 else _draw(size, random) for name, size in known.items()}
        feeds.append({value.name: _values(value, sizes, random) for value in model.graph.input})
    return feeds


def _draw(known: int, random: np.random.Generator) -> int:
    kind = random.integers(20)
    if kind == 0:
        return 0
    if kind < 7:
        return known
    return max(1, known + int(random.integers(-2, 3))) if kind < 11 else min(draw_size(random), LARGEST)


def _values(value: onnx.ValueInfoProto, sizes: Known, random: np.random.Generator) -> np.ndarray:
    tensor = value.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    shape = [sizes[dim.dim_param] if dim.dim_param else dim.dim_value for dim in tensor.shape.dim]
    limit = int(value.doc_string.removeprefix(BELOW)) if value.doc_string.startswith(BELOW) else 2
    drawn = random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, limit, shape)
    return np.asarray(drawn).astype(dtype)


def run_free(
    model: onnx.ModelProto,
    feeds: Sequence[Feed],
    *,
    activations: str = "static",
    entered: Callable[[str], None] = lambda stage: None,
) -> Outcome:
    """Import, build, quantize, build, run with each feed; never raises.

    An exact outcome says how many feeds were computed.
    """
    from tvmq.errors import BuildError, TvmqError

    stage = Stage(entered)
    try:
        return _road(model, feeds, stage, activations)
    except TvmqError as error:
        text = f"{type(error).__name__}: {error}"
        unclear = isinstance(error, BuildError) or len(text) < 25 or "Traceback" in text or "TVMError" in text
        return Outcome("unclear" if unclear else "refused" if stage.valid else "invalid", stage.name, text)
    except Failed as error:
        return Outcome(error.args[0], stage.name, error.args[1])
    except Exception:
        return Outcome("crash", stage.name, traceback.format_exc())


def _road(model: onnx.ModelProto, feeds: Sequence[Feed], stage: Stage, activations: str) -> Outcome:
    import tvmq

    stage("onnxruntime")
    wanted = [onnxruntime_results(model, [feed]) for feed in feeds]
    good = [feed for feed, results in zip(feeds, wanted, strict=True) if results is not None and _is_full(feed)]
    stage.valid = bool(good)
    stage("import")
    mod, params = tvmq.from_onnx(model)
    if not good:
        return Outcome("invalid", stage.name)
    stage("build float")
    executable = tvmq.build(mod, params=params)
    stage("run float")
    for feed, results in zip(feeds, wanted, strict=True):
        if not _is_refused(executable, feed):
            if results is None and _is_full(feed):
                raise Failed("wrong", f"a result for {_shapes(feed)}, which onnxruntime refuses")
            if results is not None and _is_full(feed):
                check_float(model, executable, [feed], results)
    stage("quantize")
    with tvmq.qconfig(activations=activations):
        qmod = tvmq.quantize(mod, params, good[:2] if activations == "static" else None)
    check_ledger(qmod)
    stage("build integer")
    executable = tvmq.build(qmod)
    stage("run integer")
    taken = [feed for feed in feeds if not _is_refused(executable, feed)]
    for feed in taken:
        if _is_full(feed):
            check_integer(qmod, executable, [feed])
    return Outcome("exact", stage.name, f"{len(taken)} of {len(feeds)}")


def _is_refused(executable: Any, feed: Feed) -> bool:
    """True for sizes that a run refuses in one sentence."""
    from tvmq.errors import DataError

    try:
        executable.run(feed)
    except DataError as error:
        text = str(error)
        if len(text) < 25 or "Traceback" in text or "TVMError" in text or "\n" in text:
            raise Failed("unclear", text) from error
        return True
    return False


def _is_full(feed: Feed) -> bool:
    return all(array.size for array in feed.values())


def _shapes(feed: Feed) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in feed.items()}
