"""A compiled model: run, benchmark, save; `load` gives it back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.base.cpus import check_counts, default_threads
from tvmq.base.text import last_line
from tvmq.codegen.target.cpu import CpuTarget, missing_requirements, refusal_of_all
from tvmq.codegen.target.cuda import CudaTarget
from tvmq.errors import ArtifactError, ConfigError, DataError, TargetError
from tvmq.runtime.artifact import container
from tvmq.runtime.artifact.loaded_code import LoadedCode
from tvmq.runtime.artifact.model_description import Description
from tvmq.runtime.artifact.saved_file import SavedFile, name_source
from tvmq.runtime.compiled_function import CompiledFunction
from tvmq.runtime.inputs import TensorInfo, infos
from tvmq.runtime.model_functions import make_functions
from tvmq.runtime.threads import in_threads, with_threads

if TYPE_CHECKING:  # what a loaded model needs later, or never, is imported where it is used
    import tvm
    from tvm import relax

    from tvmq.calibration.data.kept_preprocessing import KeptPreprocessing
    from tvmq.codegen.kernels.parts.packing_recipes import PackingRecipes
    from tvmq.graph.ledger import Ledger
    from tvmq.runtime.profile_table import Profile
    from tvmq.runtime.state_calls import StateCalls
    from tvmq.runtime.timing import Timing
    from tvmq.state.model_states import ModelStates
    from tvmq.state.session_state import SessionState

# Stage of the module -> display name of such a model.
KINDS = {"realized": "integer", "calibrated": "simulated"}
WITHOUT_CODE = "run: the model was loaded without its code; load it without code=False, or build its module"


@dataclass(eq=False)
class Parts:
    """Contents of an executable; `build` and `load` make them.

    code         compiled functions, as they were built or loaded; None: the file was loaded without them
    target       what they were compiled for
    source       of a GPU: its kernels in CUDA C++
    description  inputs, outputs, ledger, layer names
    kernels      {variable: kernel that computes it}
    module       the Relax module that was compiled, for `verify` and `explain`; or a function that reads it
    saved        the file it was loaded from: saving it again gives the same one
    num_threads  that it uses at most; None: `cpus.default_threads`
    native       the kernels as a shared library, where they were compiled to one
    recipes      how its weights were packed
    targets      all that there is code for, if it is for several CPUs
    codes        the parts of all of them, this one's too, in the same order, as they were built
    matches      {variable: operators that a lowering of the user takes} (codegen/custom_lowering/selection.py),
                 as it was built
    """

    code: relax.VMExecutable | LoadedCode | None
    target: CpuTarget | CudaTarget
    description: Description
    kernels: dict[str, str]
    module: tvm.IRModule | Callable[[], tvm.IRModule]
    saved: SavedFile | None = None
    source: str = ""
    num_threads: int | None = None
    native: bytes | None = None
    recipes: PackingRecipes | None = None
    targets: tuple[CpuTarget, ...] = ()
    codes: tuple[Parts, ...] = ()
    matches: Mapping[str, Any] = field(default_factory=dict)

    @property
    def executable(self) -> relax.VMExecutable:
        """The compiled functions for the compiler's virtual machine."""
        assert self.code is not None, "who loads without code runs nothing"
        return self.code.executable if isinstance(self.code, LoadedCode) else self.code


class Executable:
    """A compiled model for one CPU or GPU.

        exe = tvmq.build(qmod)
        y, = exe.run({"x": x})         # arrays by input name -> list of arrays, one an output
        exe.save("m.tvmq")

    Safe to share between threads: runs take turns. Results are fresh arrays.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        check_counts("build", num_threads=parts.num_threads)
        self._input_info = infos(parts.description.inputs)
        self._output_info = infos(parts.description.outputs)
        self._refusal = WITHOUT_CODE if parts.code is None else refusal_of_all(parts.targets) or _refusal(parts.target)
        # Code for another machine can be saved, but not even be prepared for running.
        self._functions = {} if self._refusal else make_functions(parts)
        self._main = self._functions.get("main")
        self._states: ModelStates | None = None

    @property
    def input_info(self) -> tuple[TensorInfo, ...]:
        """Name, shape, dtype, and scale and zero point of the codes, of each input; dynamic dimensions are names."""
        return self._input_info

    @property
    def output_info(self) -> tuple[TensorInfo, ...]:
        """Name, shape, dtype, and scale and zero point of the codes, of each output; dynamic dimensions are names."""
        return self._output_info

    @property
    def target(self) -> CpuTarget | CudaTarget:
        """The CPU or GPU it was compiled for; of several the best that this CPU can run."""
        return self._parts.target

    @property
    def num_threads(self) -> int:
        """Threads that it may use: as it was built or loaded, else TVMQ_NUM_THREADS, else TVM_NUM_THREADS, else one for
        each core that the process may use. Small operators use one whatever is allowed."""
        return self._parts.num_threads or default_threads()

    @property
    def targets(self) -> tuple[CpuTarget | CudaTarget, ...]:
        """All that there is code for; `target` is the one that runs here."""
        return self._parts.targets or (self._parts.target,)

    @property
    def source(self) -> str:
        """The kernels of a GPU in CUDA C++; empty for a CPU."""
        return self._parts.source

    @property
    def ledger(self) -> Ledger:
        """Decisions of the quantizer for every layer, with their reasons."""
        from tvmq.graph.ledger import Ledger

        return Ledger(**copy.deepcopy(self._parts.description.ledger))

    @property
    def preprocessing(self) -> KeptPreprocessing | None:
        """Function from a picture, a sound or texts to the model's input, as `tvmq quantize --data` prepared them; None
        for a model that was quantized from arrays."""
        from tvmq.calibration.data.kept_preprocessing import kept_preprocessing

        return kept_preprocessing(self._parts.description.ledger.get("preprocessing", {}))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes, in the order of the scores; () if unknown."""
        return tuple(self._parts.description.ledger.get("preprocessing", {}).get("labels", ()))

    @property
    def kernels(self) -> dict[str, str]:
        """{variable: kernel}; what is absent has the generic schedule."""
        return dict(self._parts.kernels)

    @property
    def notes(self) -> dict[str, str]:
        """{variable: what was proved for its kernel, or what a faster one would have needed}."""
        return dict(self._parts.description.notes)

    @property
    def sizes(self) -> tuple[dict[str, int], ...]:
        """{dynamic dimension: size} with code of their own, next to the code for all sizes; see build(sizes=)."""
        return tuple(dict(one.sizes) for one in self._parts.description.common)

    @property
    def lowerings(self) -> dict[str, Any]:
        """Layers that `build(lowerings=...)` gave to code of others: "names" of the lowerings, layers "taken" and
        "missed" with the reason, and the "libraries" that have to be there where it runs."""
        lowerings = self._parts.description.lowerings
        return lowerings.to_json() if lowerings is not None else {}

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """{variable: source names}."""
        return {name: tuple(sources) for name, sources in self._parts.description.names.items()}

    @property
    def module(self) -> tvm.IRModule:
        """The Relax module that was compiled; that of a loaded file is read when it is first asked for."""
        if callable(self._parts.module):
            self._parts.module = self._parts.module()
        return self._parts.module

    def run(
        self, inputs: Mapping[str, Any], state: SessionState | None = None, *, check_finite: bool = False
    ) -> list[np.ndarray]:
        """Run the model: a fresh array for each output.

        inputs        {input name: array}; integers are converted to float inputs, any memory layout is taken. A model
                      of one sample takes several, which run one by one, with a warning that says so
        state         of `new_state`, of a model that hands one to its next call: it is what the call reads, and then
                      what it gave; the results are the outputs that are no state
        check_finite  refuse NaN and infinities, of inputs and results (else NaN becomes the lowest code of an integer
                      model and infinities clip)
        raises        DataError naming the input, or for a state of another model, another batch or without room;
                      TargetError if the model was built for a CPU or GPU that is not here
        """
        main = self._main or self["main"]
        if state is not None or self._parts.description.state:
            from tvmq.runtime.sessions import run_session

            names, calls = [info.name for info in self._output_info], None if check_finite else self._state_calls
            keep = None if calls is None else calls.run
            return run_session(main.run, inputs, state, self.states, names, keep, check_finite=check_finite)
        try:
            return main.run(inputs, check_finite=check_finite)
        except DataError:  # of inputs that fit, this costs nothing
            from tvmq.runtime.sample_runs import run_one_by_one

            run = partial(main.run, check_finite=check_finite)
            results = run_one_by_one(run, inputs, self._input_info, self._output_info)
            if results is None:
                raise
            return results

    def run_many(self, inputs: Mapping[str, Any], *, advance: Callable[[], None] | None = None) -> list[np.ndarray]:
        """Run any number of samples in batches of the model's size: an array for each output, a row for each sample.

        inputs   {input name: array, samples first}; single numbers are passed to each run
        advance  called after each batch
        raises   DataError for inputs of different lengths, and for an output without a row for each sample
        """
        from tvmq.runtime.sample_runs import run_many

        return run_many(self.run, inputs, self._input_info, self._output_info, advance=advance)

    def new_state(
        self, batch: int = 1, *, capacity: int | None = None, sizes: Mapping[str, int] | None = None
    ) -> SessionState:
        """The state of a session before its first call, for `run(inputs, state)`; each session has its own.

        batch     sessions that run together, as the samples of one batch
        capacity  rows that appended states may have at most; None: any number
        sizes     {dynamic dimension: size} of states, but for the batch and for appended rows
        raises    ConfigError for a model without a state, and for a batch that it does not take

            state = exe.new_state()
            for chunk in audio:
                y, = exe.run({"x": chunk}, state)
        """
        from tvmq.runtime.sessions import begin_session

        return begin_session(self.states, batch, capacity, sizes)

    @cached_property
    def _state_calls(self) -> StateCalls | None:
        if self._main is None or isinstance(self._parts.target, CudaTarget):
            return None
        from tvmq.runtime.state_calls import state_calls  # of models with states alone

        return state_calls(self._main, self.states)

    @property
    def states(self) -> ModelStates:
        """States that the model hands from one call to the next; false where there are none."""
        if self._states is None:
            from tvmq.state.model_states import ModelStates

            self._states = ModelStates.from_json(self._parts.description.state)
        return self._states

    def load_state(self, path: str | Path) -> SessionState:
        """A state that `state.save(path)` wrote.

        raises   ArtifactError for a file that is none; DataError for the state of another model
        """
        from tvmq.state.session_state import load_session

        return load_session(path, self.states)

    def __call__(self, *arrays: Any) -> Any:
        """Inputs in order; the result alone if there is one output, else a list."""
        main = self._main or self["main"]
        try:
            return main(*arrays)
        except DataError:
            from tvmq.runtime.sample_runs import run_one_by_one

            named = dict(zip((info.name for info in self._input_info), arrays, strict=False))
            results = run_one_by_one(main.run, named, self._input_info, self._output_info)
            if results is None or len(arrays) != len(named):
                raise
            return results[0] if len(results) == 1 else results

    def __getitem__(self, name: str) -> CompiledFunction:
        """A function of the model: "main", and of one in four functions (qconfig(partition_conversions="enabled"))
        also "quantize_inputs", "quantized_main", which takes and gives codes, and "dequantize_outputs".

        raises   ConfigError for a function that it does not have; TargetError as `run`
        """
        if name in self._functions:
            return self._functions[name]
        if self._refusal:
            raise TargetError(self._refusal)
        parted = len(self._functions) > 1
        hint = "" if parted else "; quantize it with qconfig(partition_conversions='enabled') for its integer core"
        raise ConfigError(f"run: the model has no function '{name}', it has {', '.join(self._functions)}{hint}")

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the functions that can be called."""
        return tuple(self._functions)

    def benchmark(self, inputs: Mapping[str, Any], *, repeat: int = 50, threads: int | None = None) -> Timing:
        """Seconds of single runs after a warm-up; `threads` that the model may use (None: as it is).

        On a GPU: from inputs in its memory until the results are there; copies are not counted.
        raises   ConfigError for counts below 1, and what `run` raises
        """
        from tvmq.runtime.timing import measure

        return measure(self.prepare_run(inputs), repeat=repeat, threads=threads)

    def prepare_run(self, inputs: Mapping[str, Any]) -> Callable[[], object]:
        """A function that runs the model once on these inputs, to be measured.

        On a GPU the inputs are copied there now, and the results stay there; it returns when they are there.
        raises   what `run` raises, now or when it is called
        """
        main = self["main"]
        if isinstance(self._parts.target, CudaTarget) and not main.has_dynamic_shape:
            code: Any = main.code  # a DeviceFunction
            return code.prepare_run(main.check_inputs(inputs))
        return lambda: self.run(inputs)

    def profile(self, inputs: Mapping[str, Any], *, repeat: int = 20, threads: int | None = None) -> Profile:
        """Where the time of a run goes, layer by layer; print it. See runtime/profile.py for how it is measured.

        repeat   measurements of each call, interleaved with whole runs
        threads  that the model may use (None: as it is)
        raises   ConfigError for counts below 1 and for a GPU, and what `run` raises

            print(exe.profile({"x": x}))
        """
        from tvmq.runtime.profile import profile_model  # the cost model lowers the module again

        check_counts("profile", repeat=repeat, threads=threads)
        main, target = self["main"], self._parts.target
        if isinstance(target, CudaTarget):
            raise ConfigError(f"profile: the model runs on {target.name}, only CPUs are profiled; use nsys")
        profile = partial(profile_model, self._parts, main, self.module, inputs, repeat)
        return in_threads(self.num_threads, profile) if threads is None else with_threads(threads, profile)

    def save(self, path: str | Path) -> str:
        """Write one .tvmq file (a zip) and return its sha256.

        Equal modules built for equal targets by equal versions give equal files.
        raises   OutputError if it cannot be written, ArtifactError if it was loaded from a file that has changed since;
                 then a file that was there before is untouched
        """
        return container.save(Path(path), self._parts, lambda: self.module)

    def to_bytes(self) -> bytes:
        """The bytes that `save` writes, for a database, an object store or a message; `tvmq.load` takes them.

        raises   ArtifactError if it was loaded from a file that has changed since
        """
        parts = self._parts
        return b"".join(parts.saved.blocks()) if parts.saved else container.pack_executable(parts, self.module)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, or copied, as its bytes."""
        return _from_bytes, (self.to_bytes(), self._parts.num_threads, self._parts.code is not None)

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, info)) for info in (self._input_info, self._output_info))
        kind = KINDS.get(self._parts.description.ledger["stage"], "float")
        return f"Executable({inputs} -> {outputs}; {kind}, {self.target.name})"


def parts_of(exe: Executable) -> Parts:
    """Contents of an executable."""
    return exe._parts


def load(
    source: str | Path | bytes, *, sha256: str | None = None, num_threads: int | None = None, code: bool = True
) -> Executable:
    """A saved executable.

    source       path of a .tvmq file, or its bytes
    num_threads  threads that it may use, whatever other models do; None: see `Executable.num_threads`
    code         False: without its machine code, whatever machine that is for. It cannot run, but its module can be
                 built for this machine, explained and exported

    A .tvmq file holds machine code: load only what you trust, or give the `sha256` that `save` returned.
    raises  ArtifactError for a damaged or foreign file or another hash,
            TargetError for a CPU with features that this one lacks
    """
    check_counts("load", num_threads=num_threads)
    content = source if isinstance(source, bytes) else Path(source)
    parts = container.load(content, sha256, code=code)
    return _executable(name_source(content), Parts(**parts, num_threads=num_threads))


def _from_bytes(data: bytes, num_threads: int | None, code: bool = True) -> Executable:
    """An executable that was pickled."""
    where = "unpickle: the model"
    parts = container.load_file(where, SavedFile.of(where, data), code=code)
    return _executable(where, Parts(**parts, num_threads=num_threads))


def _executable(where: str, parts: Parts) -> Executable:
    try:
        return Executable(parts)
    except Exception as error:
        reason = last_line(error)
        raise ArtifactError(f"{where}: TVM cannot use the code ({reason}); save the model again") from error


def _refusal(target: CpuTarget | CudaTarget) -> str:
    """Why this machine cannot run code for a target, and what to do; empty if it can."""
    missing = missing_requirements(target.host)
    if missing:
        return (
            f"run: the model was built for {target.name} and needs {', '.join(missing)}, which this CPU lacks; "
            "save it and load it there, or build it for 'llvm', this CPU"
        )
    if not isinstance(target, CudaTarget):
        return ""
    from tvmq.runtime.cuda_device import refusal

    return refusal(target)
