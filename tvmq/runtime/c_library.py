"""Libraries that `export_library` wrote, called by ctypes: NumPy alone, no compiler and no TVM.

A folder holds NAME.json, libNAME.so and what C programs need. Results have the bits of the executable.

Tests: tests/library/test_load_library.py
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from tvmq.base.forks import RUNNING, ForkLock
from tvmq.base.index_checks import IndexUse, check_indices
from tvmq.errors import ArtifactError, DataError, MemoryLimitError, TargetError
from tvmq.runtime.c_structures import Buffer, ModelDescription, SizeDescription, TensorDescription, Threads, buffer_of
from tvmq.runtime.inputs import (
    Inputs,
    TensorInfo,
    aligned_zeros,
    has_dynamic_shape,
    infos,
    refuse_not_finite,
    sizes_of_inputs,
)
from tvmq.runtime.library_threads import ThreadPool
from tvmq.runtime.lone_library import describe_library, read_name

if TYPE_CHECKING:  # what most models do without is imported where it is used
    from tvmq.state.model_states import ModelStates
    from tvmq.state.session_state import SessionState

ABI = 2
WRONG_CPU = -7
ALIGNMENT = 64
FACTS = {"schema", "name", "machine", "code_hash", "targets", "inputs", "outputs"}
OPEN_FILES = Path("/proc/self/fd")
_loads = itertools.count(1)


class CFunctions:
    """Functions of a library by their names without the model's.

    name     of the model; None: that in the file
    sha256   of the file; another one is refused before any of its code runs
    raises   ArtifactError for a file that is no such library
    """

    def __init__(self, path: Path, name: str | None = None, sha256: str | None = None) -> None:
        self.path = path
        try:
            file = path.open("rb")
        except OSError as error:
            raise ArtifactError(f"load: '{path}' cannot be read ({error.strerror}); export the model again") from error
        try:
            with file:
                _check_hash(path, file, sha256)
                name = name or read_name(file)
                if name is None:
                    raise AttributeError("it has no name of a model")
                self._library = ctypes.CDLL(_unused_name(path, file))
            self.init = self._function(f"{name}_init", ctypes.c_int)
            self.describe = self._function(f"{name}_describe", ctypes.c_int, ctypes.POINTER(ModelDescription))
            self.workspace_bytes = self._function(
                f"{name}_workspace_bytes", ctypes.c_int64, ctypes.c_void_p, ctypes.c_uint32
            )
            buffers = ctypes.POINTER(Buffer)
            self.run = self._function(
                f"{name}_run", ctypes.c_int, ctypes.c_void_p, buffers, buffers, Buffer, ctypes.c_void_p
            )
            tensor = ctypes.c_uint32, ctypes.c_void_p, ctypes.POINTER(TensorDescription)
            self.input, self.output = (
                self._function(f"{name}_{kind}", ctypes.c_int, *tensor) for kind in ("input", "output")
            )
            self.dimension = self._function(
                f"{name}_dimension", ctypes.c_int, ctypes.c_uint32, ctypes.POINTER(SizeDescription)
            )
            threads = ctypes.POINTER(Threads)
            self.pool_bytes = self._function(f"{name}_pool_bytes", ctypes.c_int64, ctypes.c_uint32)
            self.pool_start = self._function(f"{name}_pool_start", ctypes.c_int, Buffer, ctypes.c_uint32, threads)
            self.pool_stop = self._function(f"{name}_pool_stop", ctypes.c_int, threads)
            self.status_text = self._function(f"{name}_status_text", ctypes.c_char_p, ctypes.c_int)
        except (OSError, AttributeError) as error:
            raise ArtifactError(f"load: '{path}' is no library of a model ({error}); export it again") from error

    def _function(self, name: str, result: Any, *arguments: Any) -> Any:
        function = self._library[name]
        function.restype, function.argtypes = result, arguments
        return function

    def text_of(self, status: int) -> str:
        """The sentence of a status."""
        return str(self.status_text(status).decode())


class _Fit(NamedTuple):
    """Sizes of dynamic dimensions as the library takes them, and what a run has for them.

    shapes     of the outputs
    inputs     buffers of inputs of fixed sizes; None where some are dynamic
    workspace  its buffer
    """

    sizes: Any
    shapes: list[tuple[int, ...]]
    inputs: Any
    workspace: Buffer


class LibraryModel:
    """A model in a library: run it; safe to share between threads, whose runs take turns.

    path         libNAME.so
    facts        NAME.json; None: what the library says of itself
    sha256       of the library
    num_threads  threads that a run may use; None: one for each core, see `default_threads`
    """

    def __init__(
        self, path: Path, facts: Mapping[str, Any] | None, sha256: str | None = None, num_threads: int | None = None
    ) -> None:
        self.path = path
        if facts and facts["machine"] != platform.machine():
            raise TargetError(
                f"load: '{path}' is for machines of the kind {facts['machine']}, and this one is {platform.machine()}; "
                "export it for this one"
            )
        self._functions = CFunctions(path, str(facts["name"]) if facts else None, sha256)
        described = ModelDescription()
        self._check(self._functions.describe(ctypes.byref(described)), "load")
        if described.abi != ABI:
            raise ArtifactError(f"load: '{path}' has the interface {described.abi}, not {ABI}; export it again")
        self.facts = facts = dict(facts or describe_library(self._functions, described))
        if described.code_hash.decode() != facts["code_hash"]:
            raise ArtifactError(f"load: '{path}' is not the library that its .json describes; export it again")
        status = self._functions.init()
        if status == WRONG_CPU:
            described_codes = (f"{one['name']} ({' '.join(one['needs'])})" for one in facts["targets"])
            codes = ", ".join(text.removesuffix(" ()") for text in described_codes)
            raise TargetError(f"load: '{path}' has code for {codes}, and this CPU runs none; export it for this one")
        self._check(status, "load")
        self._input_info, self._output_info = (_infos(facts[kind]) for kind in ("inputs", "outputs"))
        self._inputs = Inputs(self._input_info)
        names = [info.name for info in self._input_info]
        self._indices = [IndexUse(use, names.index(use["input"])) for use in facts.get("indices", ())]
        self._state_facts = facts.get("state", {})
        self._states: ModelStates | None = None
        self._limits = facts.get("limits", {})  # in the order in which the library takes sizes
        self._lock = ForkLock("running the model", RUNNING)
        self._threads = ThreadPool(self._functions, num_threads)
        self._sizes: dict[str, int] = {}
        self._workspace = aligned_zeros([0], "uint8")
        self._fit: _Fit | None = None if self._limits else self._make_fit({})

    @property
    def input_info(self) -> tuple[TensorInfo, ...]:
        """Name, shape, dtype, and scale and zero point of the codes, of each input."""
        return self._input_info

    @property
    def output_info(self) -> tuple[TensorInfo, ...]:
        """Name, shape, dtype, and scale and zero point of the codes, of each output."""
        return self._output_info

    @property
    def num_threads(self) -> int:
        """Threads that a run may use."""
        return self._threads.count

    @property
    def states(self) -> ModelStates:
        """States that the model hands from one call to the next; false where there are none."""
        if self._states is None:
            from tvmq.state.model_states import ModelStates

            self._states = ModelStates.from_json(self._state_facts)
        return self._states

    def new_state(
        self, batch: int = 1, *, capacity: int | None = None, sizes: Mapping[str, int] | None = None
    ) -> SessionState:
        """The state of a session before its first call; see `Executable.new_state`, whose states are the same."""
        from tvmq.runtime.sessions import begin_session

        return begin_session(self.states, batch, capacity, sizes)

    def run(
        self, inputs: Mapping[str, Any], state: SessionState | None = None, *, check_finite: bool = False
    ) -> list[np.ndarray]:
        """Run the model: a fresh array for each output; the arguments are those of `Executable.run`.

        raises   DataError naming the input, or for a state of another model, another batch or without room
        """
        if state is not None or self._state_facts:
            from tvmq.runtime.sessions import run_session

            names = [info.name for info in self._output_info]
            return run_session(self._run, inputs, state, self.states, names, check_finite=check_finite)
        try:
            return self._run(inputs, check_finite=check_finite)
        except DataError:
            from tvmq.runtime.sample_runs import run_one_by_one

            run = partial(self._run, check_finite=check_finite)
            results = run_one_by_one(run, inputs, self._input_info, self._output_info)
            if results is None:
                raise
            return results

    def run_many(self, inputs: Mapping[str, Any], *, advance: Callable[[], None] | None = None) -> list[np.ndarray]:
        """Run any number of samples in batches of the model's size, as `Executable.run_many`."""
        from tvmq.runtime.sample_runs import run_many

        return run_many(self.run, inputs, self._input_info, self._output_info, advance=advance)

    def _run(self, inputs: Mapping[str, Any], *, check_finite: bool = False) -> list[np.ndarray]:
        arrays = self._inputs.check(inputs, check_finite=check_finite)
        sizes = sizes_of_inputs(self._input_info, arrays, self._limits) if self._limits else {}
        for use in self._indices:
            if not use.is_inside(arrays[use.position]):
                check_indices(arrays[use.position], use.described, sizes, "run")
        with self._lock.lock:
            fit = self._fit_of(sizes)
            results = [
                aligned_zeros(shape, info.dtype) for shape, info in zip(fit.shapes, self._output_info, strict=True)
            ]
            placed = [
                _place(own, array, info)
                for own, array, info in zip(self._inputs.arrays, arrays, self._input_info, strict=True)
            ]
            buffers = fit.inputs or _buffers(placed), _buffers(results), fit.workspace
            status = self._functions.run(fit.sizes, *buffers, self._threads.reference())
        if status:
            raise DataError(f"run: '{self.path}' gave status {status}: {self._functions.text_of(status)}")
        if check_finite:
            for array, info in zip(results, self._output_info, strict=True):
                refuse_not_finite(array, f"output '{info.name}'", "the inputs do not")
        return results

    def __call__(self, *arrays: Any) -> Any:
        """Inputs in order; the result alone if there is one output, else a list."""
        results = self.run(self._inputs.by_position(arrays))
        return results[0] if len(results) == 1 else results

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, info)) for info in (self._input_info, self._output_info))
        return f"LibraryModel({inputs} -> {outputs}; {self.path})"

    def _fit_of(self, sizes: dict[str, int]) -> _Fit:
        """Sizes and shapes for a run, with a workspace that is large enough."""
        if self._fit is None or sizes != self._sizes:
            self._fit, self._sizes = self._make_fit(sizes), sizes
        return self._fit

    def _make_fit(self, sizes: Mapping[str, int]) -> _Fit:
        where = "run" if sizes else "load"
        values = (ctypes.c_int64 * len(self._limits))(*(sizes[name] for name in self._limits)) if sizes else None
        count = self._functions.workspace_bytes(values, self._threads.count)
        shapes = []
        for number in range(len(self._output_info)):
            tensor = TensorDescription()
            count = min(count, self._functions.output(number, values, ctypes.byref(tensor)) or count)
            shapes.append(tuple(tensor.shape[: tensor.rank]))
        if count < 0:
            at = f" of {', '.join(f'{name} = {size}' for name, size in sizes.items())}" if sizes else ""
            error = DataError if sizes else ArtifactError
            raise error(f"{where}: '{self.path}' takes no inputs{at}: {self._functions.text_of(count)}")
        if count > self._workspace.nbytes:
            try:
                self._workspace = aligned_zeros([count], "uint8")
            except MemoryError as error:
                raise MemoryLimitError(f"{where}: '{self.path}' needs {count} bytes, which are not there") from error
        inputs = None if any(map(has_dynamic_shape, self._input_info)) else _buffers(self._inputs.arrays)
        return _Fit(values, shapes, inputs, buffer_of(self._workspace))

    def _check(self, status: int, where: str) -> None:
        if status:
            raise ArtifactError(f"{where}: '{self.path}': {self._functions.text_of(status)}")


def load_library(path: Path, *, sha256: str | None = None, num_threads: int | None = None) -> LibraryModel:
    """The model in a folder that `export_library` wrote, or that a .json of such a folder belongs to, or in a .so.

    sha256       of libNAME.so; another one is refused before any of its code runs
    num_threads  threads that a run may use; None: one for each core, see `default_threads`
    raises       ArtifactError for a folder of something else, TargetError for a CPU that none of its code fits,
                 ConfigError for threads that cannot be started
    """
    path, facts = path.resolve(), None
    if path.is_dir():
        facts = _find_facts(path)
        path = path / f"lib{facts['name']}.so"
    elif path.suffix == ".json":
        facts = _require_facts(path)
        path = path.with_name(f"lib{facts['name']}.so")
    else:
        facts = _read_facts(path.with_name(f"{path.stem.removeprefix('lib')}.json"))
    return LibraryModel(path, facts, sha256, num_threads)


def _check_hash(path: Path, file: BinaryIO, sha256: str | None) -> None:
    digest = sha256 and hashlib.sha256(file.read()).hexdigest()
    if sha256 and digest != sha256.lower():
        raise ArtifactError(f"load: '{path}' has the hash {digest}, not {sha256}; it is another file")


def _unused_name(path: Path, file: BinaryIO) -> str:
    """A name of an open file that this process has not loaded yet.

    The dynamic linker takes a name that it knows for the library that it has, also where the model was exported again.
    It knows names as they are spelled: each load has slashes and dots of its own. A file that it has under another name
    is not loaded twice.
    """
    spelled = "".join("./" if bit == "1" else "/" for bit in f"{next(_loads):b}")
    if OPEN_FILES.is_dir():
        return f"{OPEN_FILES}/{spelled}{file.fileno()}"
    return f"{path.parent}{os.sep}{spelled}{path.name}"


def _find_facts(folder: Path) -> dict[str, Any]:
    """The only .json file of a folder that describes a library."""
    candidates = [facts for path in sorted(folder.glob("*.json")) if (facts := _read_facts(path)) is not None]
    if len(candidates) != 1:
        raise ArtifactError(
            f"load: '{folder}' has {len(candidates)} libraries of models, one is expected; name a folder of `tvmq "
            "export-library`, or a .tvmq file"
        )
    return candidates[0]


def _require_facts(path: Path) -> dict[str, Any]:
    facts = _read_facts(path)
    if facts is None:
        raise ArtifactError(
            f"load: '{path}' describes no library of a model; name the .so, or the folder of `tvmq export-library`"
        )
    return facts


def _read_facts(path: Path) -> dict[str, Any] | None:
    """The description of a library in a .json file; None for other files."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_ours = isinstance(facts, dict) and facts.keys() >= FACTS and facts["schema"] == 1
    return facts if is_ours and facts["name"] == path.stem else None


def _infos(described: Sequence[Mapping[str, Any]]) -> tuple[TensorInfo, ...]:
    known = ("name", "shape", "dtype", "scale", "zero_point")
    return infos([{key: value for key, value in tensor.items() if key in known} for tensor in described])


def _place(own: np.ndarray, array: np.ndarray, info: TensorInfo) -> np.ndarray:
    """The array in memory that the library takes: its own for an input of fixed sizes."""
    if has_dynamic_shape(info):
        if array.ctypes.data % ALIGNMENT == 0 and array.flags.c_contiguous:
            return array
        own = aligned_zeros(array.shape, info.dtype)
    if own is not array:
        own[...] = array
    return own


def _buffers(arrays: Sequence[np.ndarray]) -> Any:
    return (Buffer * len(arrays))(*map(buffer_of, arrays))
