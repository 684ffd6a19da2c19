"""`tvmq doctor model.onnx --data ...`: all checks of a model, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tvmq.tools.doctor.check_context import CheckContext
from tvmq.tools.doctor.findings import Finding, note
from tvmq.tools.doctor.float_model import check_import, check_labels, check_layers
from tvmq.tools.doctor.loss import (
    check_guard,
    check_int8,
    check_options,
    check_share,
    check_weights_and_activations,
    check_worst_layers,
    has_little_int8,
    needs_guard,
    needs_options,
)
from tvmq.tools.doctor.preprocessing import check_preprocessing
from tvmq.tools.doctor.samples import check_samples
from tvmq.tools.doctor.weights import check_weights

Stage = Callable[[CheckContext], Iterator[Finding]]

# Label of the progress bar -> check. Each assumes that the checks before it found nothing fatal.
STAGES: dict[str, Stage] = {
    "look at the weights": check_weights,
    "look at the samples": check_samples,
    "compare the float model": check_import,
    "look at every layer": check_layers,
    "compare labels with classes": check_labels,
    "try other preprocessings": check_preprocessing,
    "quantize": check_int8,
    "raise precision where 8 bits are not enough": check_guard,
    "share of the work in int8": check_share,
    "weights or activations": check_weights_and_activations,
    "compare layer by layer": check_worst_layers,
    "try other options": check_options,
}
# Checks with nothing to do where this is False are not shown as a step
NEEDED: dict[Stage, Callable[[CheckContext], bool]] = {
    check_labels: lambda context: context.labels is not None,
    check_guard: needs_guard,
    check_share: has_little_int8,
    check_weights_and_activations: lambda context: context.int8_result is not None,
    check_worst_layers: lambda context: context.int8_result is not None,
    check_options: needs_options,
}
# These run no model, so their findings are valid whatever the others found.
ALWAYS = (check_weights, check_samples)


def stages_to_run(context: CheckContext) -> Iterator[tuple[str, Stage]]:
    """Yield the checks to run; after a fatal finding only those that run no model."""
    for label, stage in STAGES.items():
        is_possible = stage in ALWAYS or not context.is_fatal
        if is_possible and (stage not in NEEDED or NEEDED[stage](context)):
            yield label, stage


def note_if_late(context: CheckContext) -> Iterator[Finding]:
    """Yield a note if the time budget was too short."""
    if context.ran_out_of_time:
        yield note("time", "the time budget ran out and some checks were skipped", "a larger --budget tries more")
