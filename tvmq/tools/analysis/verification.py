"""`tvmq.verify`: is the compiled model, bit for bit, what the NumPy definition says?

Tests: tests/tools/analysis/test_verify.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tvmq.backends.description import Backend
from tvmq.calibration.call_sequences import CallSequences
from tvmq.calibration.dataset import Dataset, Input, samples_in
from tvmq.chips.emulation.emulator import emulate
from tvmq.errors import ConfigError, DataError, StageError
from tvmq.graph.module_functions import part_functions
from tvmq.graph.names import input_names
from tvmq.graph.view import View, op_name
from tvmq.numerics.deviation import unequal_bits
from tvmq.reference import Reference
from tvmq.reference.not_finite import NotFinite
from tvmq.runtime.executable import Executable
from tvmq.tools.analysis.lowered_layers import LoweringCheck, LoweringChecks
from tvmq.tools.analysis.work import describe_variables

if TYPE_CHECKING:
    from tvmq.chips.comparison.divergence import Divergence


@dataclass(frozen=True)
class OutputDifference:
    """First differing value; `index` counts within the output of the sample's batch."""

    output: str
    sample: int
    index: tuple[int, ...]
    compiled: float
    defined: float

    def __str__(self) -> str:
        where = f"output '{self.output}' of sample {self.sample} at {list(self.index)}"
        return f"{where}: compiled {self.compiled!r}, defined {self.defined!r}"


@dataclass(frozen=True)
class Verification:
    """Result of `tvmq.verify`; prints "exact: yes", or "exact: no" and where.

    samples, values  number of samples and of compared values
    differing        number of values whose bits differ (any two NaN are equal)
    first            place of the first one
    islands          float operators without a definition, whose compiled results are taken as given
    lowerings        comparison of each lowering of `build(lowerings=...)`, on defined inputs
    not_finite       first layer with NaN or infinite results, which later layers may hide; "" for none
    """

    samples: int
    values: int
    differing: int
    first: OutputDifference | None
    islands: tuple[str, ...]
    lowerings: tuple[LoweringCheck, ...] = ()
    not_finite: str = ""

    @property
    def exact(self) -> bool:
        """True if nothing differs."""
        return self.differing == 0 and not any(check.differing for check in self.lowerings)

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON."""
        data = {"exact": self.exact, **asdict(self)}
        return {key: value for key, value in data.items() if value or key not in ("lowerings", "not_finite")}

    def __str__(self) -> str:
        whole = f"{self.values} values of {self.samples} samples"
        if self.exact:
            text = f"exact: yes ({whole} equal the NumPy definition bit for bit)"
        else:
            text = (
                f"exact: no ({self.differing} of {whole} differ from the NumPy definition; the first is {self.first})"
            )
        if self.islands:
            islands = ", ".join(self.islands)
            text += f"\nfloat operators without a definition, taken as compiled: {islands}"
        if self.not_finite:
            text += f"\nnot finite: {self.not_finite}; later layers may hide it: check the inputs of this one"
        return "\n".join([text, *map(str, self.lowerings)])


@overload
def verify(exe: Executable, data: Any, *, backend: None = None) -> Verification: ...


@overload
def verify(exe: Executable, data: Any, *, backend: str | Backend | None) -> Verification | Divergence: ...


def verify(exe: Executable, data: Any, *, backend: str | Backend | None = None) -> Verification | Divergence:
    """Run the executable and the NumPy definition of its module on the same data and compare every value.

    A model in four functions (qconfig(partition_conversions="enabled")) is compared function by function as well: each
    gets the defined results of the one before, so quantized_main is compared on codes.

    data     data set as for `quantize`: samples, or sequences of calls of a model that hands a state to its next call.
             Both begin each call with the state that the definition gave, and what they give for it is compared as well
    backend  a description, as for `emulate`: then the executable is compared with that chip instead, and every layer
             too; sums that can overflow its accumulators are named
    raises   ConfigError for what is no executable, DataError if there are no samples, StageError for a module after
             RunCodegen
    """
    if not hasattr(exe, "input_info"):
        kind = type(exe).__name__
        raise ConfigError(f"verify: exe must be an Executable. Got {kind} instead; tvmq.build makes one of a module")
    if backend is not None:
        from tvmq.chips.comparison.on_chip import compare_with_chip

        return compare_with_chip(exe, emulate(exe.module, backend), data)
    inputs = [
        Input(info.name, tuple(None if isinstance(size, str) else size for size in info.shape), info.dtype)
        for info in exe.input_info
    ]
    _refuse_external(exe)
    reference = Reference(exe.module, target=exe.target)
    parts, checks, not_finite = _parts(exe), LoweringChecks(exe), NotFinite(reference.view)
    samples = values = differing = 0
    first: OutputDifference | None = None
    feeds = StatefulFeeds(exe, data, inputs) if exe.states else Dataset(data, inputs)
    for feed, count in feeds:
        known: dict[str, Any] = {}
        batch = range(samples, samples + count)

        def watch(name: str, value: Any, known: dict[str, Any] = known, batch: range = batch) -> None:
            not_finite.watch(name, value, batch)
            if parts or checks:
                known[name] = value

        defined = reference.run([feed[model_input.name] for model_input in inputs], watch=watch)
        if isinstance(feeds, StatefulFeeds):
            feeds.advance(defined)
        pairs = list(zip((info.name for info in exe.output_info), exe.run(feed), defined, strict=True))
        known.update({param: feed[model_input] for param, model_input in input_names(reference.view.func).items()})
        pairs += [pair for part in parts for pair in part.compare_outputs(exe, known, defined)]
        for name, a, b in ((name, a, np.asarray(b)) for name, a, b in pairs):
            unequal = unequal_bits(a, b)
            if unequal.any() and first is None:
                at = tuple(int(i) for i in np.argwhere(unequal)[0])
                inside = at[0] if at and a.shape[0] == samples_in(feed) else 0
                first = OutputDifference(name, samples + inside, at, float(a[at]), _value(b, at))
            differing += int(unequal.sum())
            values += a.size
        samples += count
        checks.add(feed, count, known)
    if samples == 0:
        raise DataError("verify: the data gave 0 samples; give at least one")
    islands = describe_variables(reference.view, reference.islands)
    return Verification(samples, values, differing, first, islands, checks.results(), not_finite.first)


class StatefulFeeds:
    """The calls of sequences, each with the state that the definition gave in the call before."""

    def __init__(self, exe: Executable, data: Any, inputs: Sequence[Input]) -> None:
        self._states, self._outputs = exe.states, [info.name for info in exe.output_info]
        self._sequences = CallSequences(data, inputs, [one.name for one in exe.states.tensors])
        self._arrays: dict[str, np.ndarray] = {}

    def __iter__(self) -> Iterator[tuple[dict[str, np.ndarray], int]]:
        for calls in self._sequences:
            self._arrays = self._states.begin_for(calls[0])
            for call in calls:
                yield {**call, **self._arrays}, samples_in(call)

    def advance(self, results: Sequence[Any]) -> None:
        """Take over the state that the definition gave."""
        values = dict(zip(self._outputs, results, strict=True))
        self._arrays = {one.name: np.asarray(values[one.pair.output]) for one in self._states.tensors}


def _refuse_external(exe: Executable) -> None:
    """Refuse a module whose operators RunCodegen has removed, since their definition is unknown. raises StageError"""
    view = View(exe.module)
    for var, value in view.bindings:
        if op_name(value) == "call_dps_packed":
            name = getattr(value.args[0], "global_symbol", "an external function")
            raise StageError(
                f"verify: '{var.name}' calls {name}, whose operators RunCodegen has removed; build the module "
                "that FuseOpsByPattern returned, which runs the code generator as well"
            )


@dataclass(frozen=True)
class _Part:
    """Function that main calls.

    takes, gives   variables of the module; `gives` is None for its results
    """

    name: str
    takes: tuple[str, ...]
    gives: tuple[str, ...] | None

    def compare_outputs(
        self, exe: Executable, known: Mapping[str, Any], results: Sequence[Any]
    ) -> Iterator[tuple[str, np.ndarray, Any]]:
        """Outputs (name, compiled, defined) for the inputs given by the definition."""
        function = exe[self.name]
        names = [info.name for info in function.input_info]
        outputs = function.run(dict(zip(names, (known[name] for name in self.takes), strict=True)))
        wanted = results if self.gives is None else [known[name] for name in self.gives]
        for info, a, b in zip(function.output_info, outputs, wanted, strict=True):
            yield f"{self.name}: {info.name}", a, b


def _parts(exe: Executable) -> list[_Part]:
    """Functions of a model in four functions; empty for others."""
    functions = part_functions(exe.module)
    takes = [tuple(param.name for param in func.params) for func in functions.values()]
    return [_Part(*part) for part in zip(functions, takes, (*takes[1:], None), strict=False)]


def _value(array: np.ndarray, at: tuple[int, ...]) -> float:
    """Element of an array; NaN if it does not exist because shapes differ."""
    try:
        return float(array[at])
    except (IndexError, TypeError):
        return float("nan")
