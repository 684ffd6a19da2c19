"""`tvmq.check_invariance`: is what a model gives for a sample a function of that sample alone?

Samples are run alone, and again in other surroundings: in batches of other samples and in another order, by several
threads, with other values and more positions where the mask is 0. Results must have the same bits. Where they have not,
the NumPy definition is run both ways, and the first layer whose value differs is named (invariance_layers.py).

Tests: tests/tools/analysis/test_invariance.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import tvm

from tvmq.calibration.dataset import Dataset, Input
from tvmq.errors import ConfigError, DataError
from tvmq.graph.analysis.batch_dimension import batch_dimension
from tvmq.graph.analysis.padding import prove_padding
from tvmq.graph.module_functions import inline_functions, unpack_weights
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RECURRENT
from tvmq.graph.view import View, op_name, sizes_of
from tvmq.numerics.deviation import unequal_bits
from tvmq.reference import Reference
from tvmq.runtime.executable import Executable
from tvmq.runtime.inputs import TensorInfo
from tvmq.runtime.threads import with_threads
from tvmq.tools.analysis.arrangements import Arrangement, Arranger
from tvmq.tools.analysis.chunk_invariance import check_chunks
from tvmq.tools.analysis.invariance_layers import first_difference
from tvmq.tools.analysis.invariance_result import Invariance, InvarianceCheck

THREADS = (1, 2, 3)


def check_invariance(
    exe: Executable,
    data: Any,
    *,
    mask: str | None = None,
    left: bool = False,
    samples: int = 8,
    runs: int = 20,
    seed: int = 0,
    advance: Callable[[], object] | None = None,
) -> Invariance:
    """Run samples alone and in other surroundings, and compare the bits of what the model gives for them.

    data     data set as for `quantize`; the first `samples` of it are used
    mask     input [batch, length] that is 0 where a position is padding. Default: the only input of this rank with
             "mask" in its name
    left     also put padding in front. Only for models that count positions by the mask: others read a table of
             positions from its begin, and a text that begins later is another text to them
    runs     runs of the model for each kind of surroundings, drawn from the seed
    advance  called after each run
    raises   DataError if there are no samples, ConfigError for a mask that the model does not have, or if several
             inputs may be the mask

    Of a model that hands a state to its next call the data are sequences of calls (docs/streaming.md), of which the
    first `samples` are used: other chunks of the same steps, several sequences in a batch, sessions side by side and
    threads must change no bit, and leave the same state.

    Inputs begin with the batch. Where the proved batch is another axis, or a recurrent layer counts the first as its
    steps, each item of the data is run whole, by several threads, and nothing else is tried.

    >>> import tvmq
    >>> from tvmq.demo import load_demo
    >>> demo = load_demo()
    >>> model, params = tvmq.from_onnx(demo.model)
    >>> exe = tvmq.build(model, params=params)
    >>> tvmq.check_invariance(exe, {"image": demo.test[:4]}, runs=4).holds
    True
    """
    if exe.states:
        _check_count(samples)
        return check_chunks(exe, data, samples=samples, runs=runs, seed=seed, advance=advance)
    plain = unpack_weights(inline_functions(exe.module))
    batch = batch_dimension(plain)
    not_first = _why_not_first(exe, plain, batch)
    first = _first_samples(exe, data, samples, whole=bool(not_first))
    arranger = Arranger(exe.input_info, first, mask, np.random.default_rng(seed), not_first)
    alone = [_results(exe, arranger.alone(number))[0] for number in range(len(arranger.samples))]
    surroundings = _surroundings(exe, arranger, runs, left=left)
    checks = [_check(exe, alone, arranger, what, plans, advance) for what, plans in surroundings]
    proofs = _proofs(exe, plain, batch, arranger)
    return Invariance(len(alone), tuple(_add_proof(check, *proofs.get(check.what, (False, ""))) for check in checks))


def _proofs(exe: Executable, plain: tvm.IRModule, batch: str | None, arranger: Arranger) -> dict[str, tuple[bool, str]]:
    """{surroundings: (proved, condition of the proof or why there is none)}."""
    proofs = {"batch and order": (batch is not None, "")}
    if arranger.mask is None:
        return proofs
    proof = prove_padding(plain, arranger.mask)
    condition = proof.condition
    if condition and proof.scores:
        condition += f", here up to {_largest_score(exe, proof.scores, arranger):.3g}"
    sides = {"masked values": proof.values, "padding on the right": proof.right, "padding on the left": proof.left}
    for what, reason in sides.items():
        if not batch and not arranger.why_no_batches:
            reason = reason or "samples of a batch are not proved to be apart"
        if proof.first and not arranger.own_come_first:
            reason = reason or "own positions do not come first in the data"
        proofs[what] = (not reason, reason or condition)
    return proofs


def _largest_score(exe: Executable, names: Sequence[str], arranger: Arranger) -> float:
    """Largest magnitude of these variables for all samples, as the definition computes them."""
    largest = 0.0

    def watch(name: str, value: Any) -> None:
        nonlocal largest
        if name in names:
            largest = max(largest, float(np.abs(value).max()))

    reference = Reference(exe.module)
    for number in range(len(arranger.samples)):
        reference.run(arranger.alone(number).feed, watch=watch)
    return largest


def _add_proof(check: InvarianceCheck, proved: bool, condition: str) -> InvarianceCheck:
    """The check with what is proved of it; nothing is of one that was not run, or found values that differ."""
    return replace(check, proved=proved, condition=condition) if check.runs and not check.differing else check


Plans = str | Iterator[tuple[Arrangement, int | None]]  # why there are none; arrangements, and threads that run them


def _surroundings(exe: Executable, arranger: Arranger, runs: int, *, left: bool) -> Iterator[tuple[str, Plans]]:
    """The kinds of surroundings, each with its runs."""
    batches: Plans = arranger.why_no_batches or ((arranger.batch(), None) for _ in range(runs))
    yield "batch and order", batches
    yield "threads", ((arranger.any_batch(), count) for count in THREADS for _ in range(-(-runs // len(THREADS))))
    masked: Plans = arranger.why_no_mask or ((arranger.any_batch(other_values=True), None) for _ in range(runs))
    yield "masked values", masked
    pad = arranger.why_no_mask or arranger.why_no_lengths(exe.output_info)
    yield "padding on the right", pad or ((arranger.any_batch(right=True), None) for _ in range(runs))
    if left:
        yield "padding on the left", pad or ((arranger.any_batch(left=True), None) for _ in range(runs))


def _check(
    exe: Executable,
    alone: Sequence[list[np.ndarray]],
    arranger: Arranger,
    what: str,
    plans: Plans,
    advance: Callable[[], object] | None,
) -> InvarianceCheck:
    if isinstance(plans, str):
        return InvarianceCheck(what, 0, note=plans)
    runs = values = differing = 0
    note = ""
    for arrangement, threads in plans:
        run = partial(_results, exe, arrangement)
        results = run() if threads is None else with_threads(threads, run)
        for row, (number, result) in enumerate(zip(arrangement.rows, results, strict=True)):
            count = sum(int(unequal_bits(a, b).sum()) for a, b in zip(alone[number], result, strict=True))
            values += sum(array.size for array in alone[number])
            differing += count
            if count and not note:
                note = first_difference(exe.module, arranger.alone(number), arrangement, row)
        runs += 1
        if advance:
            advance()
    return InvarianceCheck(what, runs, values, differing, note)


def _results(exe: Executable, arrangement: Arrangement) -> list[list[np.ndarray]]:
    """For each row of an arrangement its part of each output, without positions that are masked."""
    outputs = exe.run(arrangement.feed)
    return [
        [arrangement.part(output, _sizes(info), row) for output, info in zip(outputs, exe.output_info, strict=True)]
        for row in range(len(arrangement.rows))
    ]


def _sizes(info: TensorInfo) -> tuple[int | str, ...]:
    return tuple(info.shape)


def _why_not_first(exe: Executable, plain: tvm.IRModule, batch: str | None) -> str:
    """Why the first axis of the inputs is no batch; "" if it may be one."""
    firsts = {info.shape[0] for info in exe.input_info if info.shape}
    if batch and batch not in firsts:
        return f"the inputs begin with {_text(firsts)}, and the batch is {batch}"
    loops = [value for _, value in View(plain).bindings if op_name(value) in where(kind=RECURRENT)]
    # a size of 1 is no batch either way, and its samples can be told apart
    if not batch and firsts & {sizes_of(value.args[0])[0] for value in loops} - {1}:
        return f"the inputs begin with {_text(firsts)}, which a recurrent layer counts as its steps"
    return ""


def _text(sizes: set[int | str]) -> str:
    return ", ".join(sorted(map(str, sizes)))


def _check_count(count: int) -> None:
    if count < 1:
        raise ConfigError(f"check_invariance: samples must be at least 1. Got {count} instead")


def _first_samples(exe: Executable, data: Any, count: int, *, whole: bool) -> list[dict[str, np.ndarray]]:
    """Samples, each with a batch of one; items of the data as they are if those are to stay whole."""
    _check_count(count)
    shapes = [tuple(None if isinstance(size, str) else size for size in info.shape) for info in exe.input_info]
    inputs = [
        Input(info.name, (None, *shape[1:]), info.dtype) if shape else Input(info.name, shape, info.dtype)
        for info, shape in zip(exe.input_info, shapes, strict=True)
    ]
    samples: list[dict[str, np.ndarray]] = []
    if whole:
        samples = list(islice(Dataset(data, inputs).items(), count))
    for feed, size in () if whole else Dataset(data, inputs):
        for row in range(size):
            samples.append({name: array[row : row + 1] if array.ndim else array for name, array in feed.items()})
            if len(samples) == count:
                return samples
    if not samples:
        raise DataError("check_invariance: the data gave 0 samples; give at least one")
    return samples
