"""`CompiledFunction`: a function of a compiled model, with its inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tvmq.base.cpus import default_threads
from tvmq.base.forks import ForkLock
from tvmq.base.index_checks import IndexUse, check_indices
from tvmq.base.memory import ROOM, is_shortage
from tvmq.base.text import last_line
from tvmq.errors import ArtifactError, MemoryLimitError, TvmqError
from tvmq.runtime.artifact.model_description import FunctionDescription
from tvmq.runtime.call_code import NO_CACHES, CacheNumbers, CallCode, is_misfit
from tvmq.runtime.dynamic_shapes import DynamicRun, MachineCodes, SizedCode
from tvmq.runtime.inputs import Inputs, TensorInfo, has_dynamic_shape, infos, refuse_not_finite, sizes_of_inputs
from tvmq.runtime.threads import here, in_threads


class CompiledFunction:
    """`exe["quantized_main"]`, say: a function that takes arrays and gives arrays.

        codes, = exe["quantize_inputs"].run({"x": x})
        codes, = exe["quantized_main"].run({"x": codes})
        y, = exe["dequantize_outputs"].run({"y": codes})

    name         of the function
    code         the function of the virtual machine
    description  of its inputs and outputs
    lock         held during a run: functions of one executable take turns
    threads      that a run may use; None: `cpus.default_threads` of now, 0: as it is
    fresh        what `code` gives is memory of its own, in every run another
    sized        code for common sizes of dynamic dimensions, beside `code`
    looped       `code` for any number of samples, if there is one
    copied       makes these codes on another virtual machine; None: samples of a batch run one after another
    caches       its inputs and results that are appended states

    Results are fresh arrays.
    """

    def __init__(
        self,
        name: str,
        code: Callable[..., Any],
        description: FunctionDescription,
        lock: ForkLock,
        threads: int | None = 0,
        *,
        fresh: bool = False,
        sized: Sequence[SizedCode] = (),
        looped: CallCode | None = None,
        copied: Callable[[], MachineCodes] | None = None,
        caches: CacheNumbers = NO_CACHES,
    ) -> None:
        self.name, self._threads = name, default_threads() if threads is None else threads
        self.code, self._lock = code, lock
        self._description = description
        self._call = CallCode(code, description.unaligned, fresh=fresh, caches=caches)
        self._limits, self._sized = description.limits, tuple(sized)
        self._input_info, self._output_info = infos(description.inputs), infos(description.outputs)
        self._inputs = Inputs(self._input_info)
        names = [info.name for info in self._input_info]
        self._indices = [IndexUse(use, names.index(use["input"])) for use in description.indices]
        self._call.prepare(self._inputs.arrays)
        batch = description.batch or None
        self._is_as_described, self._dynamic_run = False, None
        self._described_codes: set[CallCode] = set()
        if any(map(has_dynamic_shape, self._input_info)):
            self._dynamic_run = DynamicRun(
                MachineCodes(self._call, self._sized, looped), self._input_info, self._output_info, batch, copied
            )

    @property
    def input_info(self) -> tuple[TensorInfo, ...]:
        """Name, shape, dtype, and scale and zero point of the codes, of each input; dynamic dimensions are names."""
        return self._input_info

    @property
    def output_info(self) -> tuple[TensorInfo, ...]:
        """Name, shape, dtype, and scale and zero point of the codes, of each output; dynamic dimensions are names."""
        return self._output_info

    @property
    def memory(self) -> dict[str, np.ndarray]:
        """{input: the memory that the code reads}. An array given to `run` in this very memory is not copied, so that
        in-place writes of a kernel are visible to the caller."""
        return {info.name: array for info, array in zip(self._input_info, self._inputs.arrays, strict=True)}

    @property
    def batch(self) -> str:
        """The dynamic dimension whose samples are proved to be apart, each with the bits that it has alone; or ""."""
        return self._description.batch

    @property
    def has_dynamic_shape(self) -> bool:
        """True if an input has a dynamic dimension."""
        return self._dynamic_run is not None

    @property
    def has_free_sizes(self) -> bool:
        """True if an input has a dynamic dimension that is no batch, whose samples run one by one."""
        sizes = {size for info in self._input_info for size in info.shape if isinstance(size, str)}
        return bool(sizes - {self._description.batch})

    def function_for(self, inputs: Mapping[str, Any]) -> str:
        """Name of the function that computes results for inputs of these sizes; its own for a mixture of several."""
        arrays = self._inputs.check(inputs)
        if self._dynamic_run is None:
            return self.name
        sized = self._dynamic_run.choose_code(sizes_of_inputs(self._input_info, arrays, self._limits))
        return self.name if sized is None else sized.name

    def with_code(self, code: Callable[..., Any], function: str = "main") -> CompiledFunction:
        """This function with another one of a virtual machine as its code; function: see `function_for`."""
        sized = [one._replace(call=CallCode(code)) for one in self._sized if one.name == function]
        return CompiledFunction(self.name, code, self._description, self._lock, self._threads, sized=sized)

    @property
    def limits(self) -> Mapping[str, Mapping[str, Any]]:
        """Sizes that dynamic dimensions may have; see `sizes_of_inputs`."""
        return self._limits

    @property
    def caches(self) -> CacheNumbers:
        """Its inputs and results that are appended states."""
        return self._call.caches

    def check_inputs(self, inputs: Mapping[str, Any], *, check_finite: bool = False) -> list[np.ndarray]:
        """The arrays in order, of the right shapes and types; DataError naming the input that does not fit."""
        arrays = self._inputs.check(inputs, check_finite=check_finite)
        return self._with_indices(arrays) if self._indices else arrays

    def _with_indices(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """The arrays; DataError for one that holds an index outside of what it counts."""
        is_dynamic = self._dynamic_run is not None
        self.check_indices(
            arrays, lambda: sizes_of_inputs(self._input_info, arrays, self._limits) if is_dynamic else {}
        )
        return arrays

    def check_indices(self, values: Sequence[Any], find_sizes: Callable[[], dict[str, int]]) -> None:
        """DataError for an input that holds an index outside of what it counts.

        values      inputs in order; states may be tensors
        find_sizes  gives those of dynamic dimensions, where an index may be outside
        """
        for use in self._indices:
            if not use.is_inside(values[use.position]):
                check_indices(values[use.position], use.described, find_sizes(), "run")

    def run_once(self, values: Sequence[Any], sizes: Mapping[str, int]) -> list[Any] | None:
        """Results of one call of the code for these sizes, states as tensors; None where a batch takes several calls.

        values  checked inputs in order, states as tensors
        """
        call = self._dynamic_run.single_code(sizes) if self._dynamic_run is not None else self._call
        if call is None:
            return None

        def run(tensors: Sequence[Any]) -> list[Any]:
            with self._lock.lock:
                return call.run_tensors(tensors)

        results = self._execute(values, run)
        # states of the same code are always of the same types
        if call not in self._described_codes:
            self._as_described([np.from_dlpack(result) for result in results])
            self._described_codes.add(call)
        return results

    def run(self, inputs: Mapping[str, Any], *, check_finite: bool = False) -> list[np.ndarray]:
        """Run the function: a fresh array for each output.

        inputs        {input name: array}; integers are converted to float inputs, any memory layout is taken
        check_finite  refuse NaN and infinities, of inputs and results (else NaN becomes the lowest code of an integer
                      model and infinities clip)
        raises        DataError naming the input; MemoryLimitError where memory runs out; ArtifactError if it was loaded
                      from a file that describes other inputs than its code takes
        """
        results = self._as_described(self._execute(self.check_inputs(inputs, check_finite=check_finite), self._run))
        if check_finite:
            for array, info in zip(results, self._output_info, strict=True):
                refuse_not_finite(array, f"output '{info.name}'", "the inputs do not; `tvmq.verify` names the layer")
        return results

    def run_tensors(self, inputs: Mapping[str, Any]) -> list[Any]:
        """As `run`, with a `tvmq.QTensor` for each input and output that is codes of a scale.

        inputs   {input name: QTensor, or array as for `run`}
        returns  a QTensor for codes, an array for floats and for sums in int32 (`output_info` has their scale)
        raises   DataError for a tensor of another scale than the function takes, and what `run` raises

            (codes,) = exe["quantize_inputs"].run_tensors({"x": x})
            (y,) = exe["quantized_main"].run_tensors({"x": codes})
        """
        from tvmq.runtime.quantized_arguments import as_tensors, take_codes

        return as_tensors(self.run(take_codes(inputs, self._input_info)), self._output_info)

    def look(self, inputs: Mapping[str, Any]) -> list[np.ndarray]:
        """As `run`; where all sizes are fixed the results are not copied, and stand until the next run at most."""
        run = self._run if self._dynamic_run is not None else self._look
        return self._as_described(self._execute(self.check_inputs(inputs), run))

    def _as_described(self, results: list[np.ndarray]) -> list[np.ndarray]:
        """The results; ArtifactError where the code gives others than its description says."""
        if not self._is_as_described:
            if len(self._output_info) != len(results) or not _are_described(results, self._output_info):
                wanted = [_text(info.dtype, info.shape) for info in self._output_info]
                types = ", ".join(_text(str(array.dtype), array.shape) for array in results)
                raise ArtifactError(
                    f"run: the code gives {types or 'nothing'}, its description says {', '.join(wanted) or 'nothing'}; "
                    "build the model and save it again"
                )
            self._is_as_described = self._dynamic_run is None  # fixed sizes stay what they are
        return results

    def _execute(self, arrays: Sequence[Any], run: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
        """run(arrays) in the threads that it may use; failures become errors of tvmq."""
        try:
            if self._threads and self._threads != here.count:
                return in_threads(self._threads, lambda: run(arrays))
            return run(arrays)
        except TvmqError:
            raise
        except (MemoryError, RuntimeError, ValueError) as error:
            if is_misfit(error):
                raise ArtifactError(
                    f"run: the code takes other inputs than its description says ({last_line(error)}); build the model "
                    "and save it again"
                ) from error
            if not is_shortage(error):
                raise
            shapes = ", ".join(f"{i.name} {a.shape}" for i, a in zip(self._input_info, arrays, strict=True))
            raise MemoryLimitError(f"run: memory ran out for inputs of the shapes {shapes}; {ROOM}") from error

    def _look(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        with self._lock.lock:
            return self._call.look(arrays)

    def _run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        if self._dynamic_run is not None:
            sizes = sizes_of_inputs(self._input_info, arrays, self._limits)
            with self._lock.lock:
                return self._dynamic_run.run(arrays, sizes)
        with self._lock.lock:
            return self._call.run(arrays)

    def __call__(self, *arrays: Any) -> Any:
        """Inputs in order; the result alone if there is one output, else a list."""
        results = self.run(self._inputs.by_position(arrays))
        return results[0] if len(results) == 1 else results

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, info)) for info in (self._input_info, self._output_info))
        return f"CompiledFunction({self.name}: {inputs} -> {outputs})"


def _are_described(arrays: Sequence[np.ndarray], infos: Sequence[TensorInfo]) -> bool:
    """True for the types and sizes of outputs, each kind of which is looked at once: a model has many equal states."""
    kinds = {(array.dtype, array.shape, info.dtype, info.shape): (array, info)
             for array, info in zip(arrays, infos, strict=True)}  # fmt: skip
    return all(_is_described(array, info) for array, info in kinds.values())


def _is_described(array: np.ndarray, info: TensorInfo) -> bool:
    """True for the type and the sizes of an output; dynamic sizes may be any."""
    if array.dtype != info.dtype or array.ndim != len(info.shape):
        return False
    return all(size == wanted or isinstance(wanted, str) for size, wanted in zip(array.shape, info.shape, strict=True))


def _text(dtype: str, shape: Sequence[int | str]) -> str:
    return f"{dtype} [{', '.join(map(str, shape))}]"
