"""`tvmq doctor model.onnx --data ...`: the stages of the examination, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tvmq.doctor.findings import Finding, note
from tvmq.doctor.float_model import check_import, check_layers
from tvmq.doctor.loss import check_guard, check_int8, check_options, check_weights_and_activations, check_worst_layers
from tvmq.doctor.patient import CheckContext
from tvmq.doctor.preprocessing import check_preprocessing
from tvmq.doctor.samples import check_samples
from tvmq.doctor.weights import check_weights

Stage = Callable[[CheckContext], Iterator[Finding]]

# What a stage is called while it runs -> the stage. Each relies on what those before it found to be healthy.
STAGES: dict[str, Stage] = {
    "look at the weights": check_weights,
    "look at the samples": check_samples,
    "compare the float model": check_import,
    "look at every layer": check_layers,
    "try other preprocessings": check_preprocessing,
    "quantize": check_int8,
    "raise precision where 8 bits do not do": check_guard,
    "weights or activations": check_weights_and_activations,
    "compare layer by layer": check_worst_layers,
    "try other options": check_options,
}
# Those that run no model, and so tell something whatever the others found.
ALWAYS = (check_weights, check_samples)


def stages_to_run(context: CheckContext) -> Iterator[tuple[str, Stage]]:
    """The stages that still make sense: after a finding that spoils all results those are left that need none."""
    for label, stage in STAGES.items():
        if stage in ALWAYS or not context.is_fatal:
            yield label, stage


def note_if_late(context: CheckContext) -> Iterator[Finding]:
    """Yield a note if the budget of time was too short."""
    if context.ran_out_of_time:
        yield note("time", "the budget is used up; experiments were left out", "a larger --budget tries more")
