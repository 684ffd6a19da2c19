"""`tvmq.build`: a module of any stage to an executable for a target.

One order of arguments: the module, its weights, the target. Calls that name the target second go on working.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from typing import Any, ParamSpec, TypeVar

import numpy as np
import tvm

from tvmq.backends import backend_named
from tvmq.base.cpus import check_counts
from tvmq.base.deprecation import warn_user
from tvmq.codegen.compile.build_options import PLAIN, BuildOptions
from tvmq.codegen.compile.cuda.compile import compile_cuda
from tvmq.codegen.compile.external_code import (
    NOTHING,
    ExternalCode,
    ExternalModules,
    external_code,
    take_external_modules,
)
from tvmq.codegen.compile.module_description import (
    describe_functions,
    describe_module,
    describe_tensors,
)
from tvmq.codegen.compile.native_samples import SampleAxes
from tvmq.codegen.compile.sample_blocks import block_sizes
from tvmq.codegen.compile.vm_pipeline import VmModule, compile_module
from tvmq.codegen.custom_lowering.fused_functions import write_out
from tvmq.codegen.custom_lowering.lowering import Lowering, lowerings_of
from tvmq.codegen.kernels.conv.matmul import USUAL_ROWS
from tvmq.codegen.kernels.parts.packing_recipes import PackingRecipes
from tvmq.codegen.kernels.parts.tiling import BlockTiles
from tvmq.codegen.lower.cuda.lowerer import CudaLowerer
from tvmq.codegen.lower.lower_functions import (
    LoweredModule,
    Sizes,
    check_limit,
    combinations,
    divide_sizes,
    function_name,
    lower_functions,
    of_sizes,
)
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.lowering_calls import with_lowerings
from tvmq.codegen.lower.main_calls import describe_calls
from tvmq.codegen.performance.tuning import progress_line
from tvmq.codegen.performance.tuning import tune as measure_tiles
from tvmq.codegen.performance.tuning_table import tiles_for
from tvmq.codegen.target.cpu import CpuTarget, missing_requirements, resolve_target, with_codes
from tvmq.codegen.target.cuda import CudaTarget, cuda_target, is_cuda
from tvmq.errors import BackendWarning, BuildError, ConfigError, TargetError
from tvmq.graph.analysis.batch_dimension import batch_dimension
from tvmq.graph.analysis.limits import ENDLESS, size_limits
from tvmq.graph.describe_states import describe_states
from tvmq.graph.indices import input_indices
from tvmq.graph.ledger import MAY_DIFFER, check_module, get_ledger, why_emulated
from tvmq.graph.module_functions import inline_functions, is_partitioned, plain_module, unpack_weights
from tvmq.graph.names import input_names
from tvmq.graph.state_pairs import appended_dimensions
from tvmq.graph.symbolic import dynamic_dimensions, with_sizes
from tvmq.graph.view import View
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.passes.prepare import prepare
from tvmq.runtime.artifact.model_description import Description, LoweringDescription, SizedFunction
from tvmq.runtime.executable import Executable, Parts

P = ParamSpec("P")
R = TypeVar("R")


def params_first(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a function (mod, params, target, ...): a target in the place of params is taken as the target.

    >>> @params_first
    ... def shown(mod, params=None, target="llvm"):
    ...     return params, target
    >>> shown(0, {}, "cuda"), shown(0, "cuda", {}), shown(0, "cuda", params={}), shown(0, {}, target="cuda")
    (({}, 'cuda'), ({}, 'cuda'), ({}, 'cuda'), ({}, 'cuda'))
    """

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> R:
        if len(args) > 1 and not _are_weights(args[1]):
            mod, target, *params = args
            return function(mod, *params, target=target, **options)
        return function(*args, **options)

    return run


def _are_weights(value: Any) -> bool:
    """True for {name: array}, pairs of both, or None; a target can be a dict as well, with the word of its kind."""
    if isinstance(value, Mapping):
        return not isinstance(value.get("kind"), str)
    pairs = isinstance(value, list | tuple) and bool(value) and all(isinstance(one, tuple) for one in value)
    return value is None or pairs


@params_first
def build(
    mod: tvm.IRModule,
    params: Mapping[str, np.ndarray] | None = None,
    target: Any = "llvm",
    *,
    sizes: Sizes | None = None,
    num_threads: int | None = None,
    tune: float | None = None,
    lowerings: Sequence[Any] | None = None,
    backend: Any = None,
) -> Executable:
    """Compile a float, simulated or integer module.

    mod      from `from_onnx` (with its params) or from `quantize`
    params   weights that are still parameters of the module; a target in their place is taken as the target
    target   "llvm" is this CPU with all its features; "x86-64-v3", "llvm -mcpu=...", a dict or a tvm Target for others;
             "cuda" is this machine's GPU, {"kind": "cuda", "arch": "sm_90"} any other.
             A list of CPUs gives code for each; the best that this CPU can run is taken, here and where it is loaded
    sizes    {dynamic dimension: number}, for code that takes no other size and is faster; the others stay dynamic: a
             batch costs nothing, what lies inside of a sample (a sequence, the sides of a picture) does.
             {dynamic dimension: [numbers]}: it stays dynamic and takes all sizes, and these common ones have, in
             all combinations, code of their own that is as fast; each costs about the compile time of one fixed size.
             A free batch of an integer model bound by its weights has code for blocks of 32, 8 and 2 samples by itself;
             {batch: [1]} leaves it out (see codegen/compile/sample_blocks.py)
    num_threads  that it may use, whatever other models do; None: see `Executable.num_threads`
    tune     so many seconds go into measuring tiles of the kernels on this machine; what is found is kept in the cache
             folder (TVMQ_CACHE) and used by all later builds. Results have the same bits. On a terminal a line on
             stderr tells how far it is; interrupted, it keeps what it has
    lowerings  operators of the integer module that your own code computes, on CPUs: tvmq.Lowering, or "module:object"
             of one; the first that fits takes a layer. `explain` lists what each took, `verify` compares it. Functions
             of FuseOpsByPattern with the attribute Codegen go to their code generator as well
    backend  a description (as `quantize(target=...)` takes it) whose lowerings are used, after those given here
    warns    BackendWarning for a module quantized for a device that sums or computes floats in fewer bits than a CPU
    raises   TargetError for an unknown target, ConfigError for sizes of no dynamic dimension or that the model does not
             take, BuildError if TVM fails, or a lowering, its library or code generator
    """
    check_counts("build", num_threads=num_threads)
    check_module(mod)
    if (why := why_emulated(mod)) is not None:
        raise BuildError(f"build: {why}: compiled code would give other codes than the device; use tvmq.emulate")
    if (why := why_emulated(mod, MAY_DIFFER)) is not None:
        warn_user(
            f"build: {why}: where that matters the device gives other values; tvmq.emulate computes and counts them",
            BackendWarning,
        )
    return build_executable(
        mod, params, target, sizes=sizes, num_threads=num_threads, tune=tune, lowerings=lowerings, backend=backend
    )


def build_executable(
    mod: tvm.IRModule,
    params: Mapping[str, np.ndarray] | None = None,
    target: Any = "llvm",
    *,
    sizes: Sizes | None = None,
    num_threads: int | None = None,
    tune: float | None = None,
    lowerings: Sequence[Any] | None = None,
    backend: Any = None,
    options: BuildOptions = PLAIN,
) -> Executable:
    """Compile as `build` does, which describes the other arguments."""
    machines, (mod, existing) = machines_of(target), take_external_modules(plain_module(mod))
    mod, composites = write_out(mod)
    own = lowerings_of(lowerings, backend_named(backend) if backend is not None else None)
    custom_code = CustomCode(own, composites, existing)
    if custom_code and any(isinstance(machine, CudaTarget) for machine in machines):
        raise ConfigError("build: lowerings and code generators are for CPUs; leave them out for 'cuda'")
    if params or get_ledger(mod).stage == "imported":
        mod = prepare(mod, params)
    fixed, common = divide_sizes(sizes)
    if fixed:
        mod = _of_sizes(mod, fixed)
    plain, description = describe_source(mod)
    is_plain = not custom_code and not any(isinstance(machine, CudaTarget) for machine in machines)
    if is_plain and not options.is_brief and not is_partitioned(mod):
        options = replace(options, samples=_sample_axes(description))
    if common:
        sized = combinations(plain, common, description.batch or None, description.limits)
        description = replace(description, common=_describe_common(plain, sized, machines))
    elif is_plain:
        blocks = block_sizes(plain, description.batch or None, description.limits)
        if blocks and not options.is_brief and not is_partitioned(mod):
            sized = tuple({description.batch: size} for size in blocks)
            description = replace(description, common=_describe_common(plain, sized, machines))
            options = replace(options, has_blocks=True)
    if len(machines) == 1:
        parts = _compile_parts(mod, machines[0], description, tune, custom_code, options)
    else:
        here = [machine for machine in machines if not missing_requirements(machine.host)]  # others cannot be measured
        times = [tune / len(here) if tune is not None and machine in here else None for machine in machines]
        codes = zip(machines, times, strict=True)
        parts = with_codes(
            tuple(_compile_parts(mod, machine, description, time, custom_code, options) for machine, time in codes)
        )
    return Executable(replace(parts, num_threads=num_threads))


def _sample_axes(description: Description) -> SampleAxes | None:
    """Where the inputs and outputs have samples that run one by one."""
    shapes = ([tensor["shape"] for tensor in tensors] for tensors in (description.inputs, description.outputs))
    return SampleAxes.of_shapes(description.batch, *shapes)


def describe_source(mod: tvm.IRModule) -> tuple[tvm.IRModule, Description]:
    """A module that is ready to be compiled as one function with its weights, and its description."""
    plain = unpack_weights(inline_functions(mod))
    batch, view = batch_dimension(plain), View(plain)
    # kernels compute at least one sample: a batch of none is answered without them
    may_be_empty = {batch, *appended_dimensions(plain)}
    firsts = {name for name, (_, axis) in dynamic_dimensions(plain).items() if axis == 0 and name not in may_be_empty}
    limits = {name: limit.tighten(int(name in firsts), ENDLESS, "") for name, limit in size_limits(plain).items()}
    description = replace(
        describe_module(plain, view),
        batch=batch or "",
        limits={name: asdict(limit) for name, limit in limits.items()},
        indices=input_indices(view, input_names(view.func)),
        functions=describe_functions(mod),
        state=describe_states(view, batch or "").to_json(),
    )
    return plain, description


@dataclass(frozen=True)
class CustomCode:
    """Code of the user: lowerings in the order of choice, composites of FuseOpsByPattern, modules of RunCodegen."""

    lowerings: Sequence[Lowering]
    composites: Sequence[tuple[Lowering, Sequence[str]]]
    existing: ExternalModules = ExternalModules()  # noqa: RUF009  frozen

    def __bool__(self) -> bool:
        return bool(self.lowerings or self.composites or self.existing.modules)

    @property
    def every(self) -> list[Lowering]:
        """All lowerings: those of the user, then those of FuseOpsByPattern."""
        return [*self.lowerings, *(lowering for lowering, _ in self.composites)]

    def manifest_entries(self) -> list[dict[str, str]]:
        """Name, kind and first operator of each lowering, for the manifest."""
        entries = {one.name: {"name": one.name, "kind": one.kind, "begins": one.begins} for one in self.every}
        return list(entries.values())

    def external(self, lowered: LoweredModule) -> ExternalCode:
        """Object files, libraries and modules of the lowerings that matched something."""
        if not self:
            return NOTHING
        used = (entry["lowering"] for entry in lowered.lowered_calls)
        return external_code(self.every, used, lowered.generated, self.existing)

    def describe(self, lowered: LoweredModule, external: ExternalCode) -> LoweringDescription | None:
        """Description of the lowerings' matches and mismatches; None if there are no lowerings."""
        if not self:
            return None
        return LoweringDescription(
            self.manifest_entries(),
            list(lowered.lowered_calls),
            [asdict(mismatch) for mismatch in lowered.mismatches],
            list(external.libraries),
            [str(module.kind) for module in external.modules],
        )


def machines_of(target: Any) -> list[CpuTarget | CudaTarget]:
    """Targets to compile for, in the order of the list and each once."""
    if not isinstance(target, list | tuple):
        return [cuda_target(target) if is_cuda(target) else resolve_target(target)]
    if not target or any(map(is_cuda, target)):
        raise TargetError(f"build: a list of targets names CPUs, at least one. Got {list(target)}; build others alone")
    return list(dict.fromkeys(map(resolve_target, target)))


def _describe_common(
    plain: tvm.IRModule, common: Sequence[Mapping[str, int]], machines: Sequence[CpuTarget | CudaTarget]
) -> list[SizedFunction]:
    """The functions for common sizes, in their order."""
    if any(isinstance(machine, CudaTarget) for machine in machines):
        raise ConfigError("sizes: lists of common sizes are for CPUs; name one size, or leave the dimension dynamic")
    functions = []
    for number, sizes in enumerate(common):
        tensors = describe_tensors(View(with_sizes(plain, sizes)))
        functions.append(SizedFunction(function_name(number), {**sizes}, *tensors))
    return functions


def _compile_parts(
    mod: tvm.IRModule,
    machine: CpuTarget | CudaTarget,
    description: Description,
    tune: float | None,
    custom_code: CustomCode,
    options: BuildOptions,
) -> Parts:
    """The module compiled for one machine.

    Lowered to calls of kernels, linked with code of the user, compiled; then the description gets what only these
    steps know: calls and their origins (for profiles), matches and mismatches of lowerings, notes on kernels.
    """
    _measure_tiles(mod, machine, tune)
    if isinstance(machine, CpuTarget):
        options = replace(options, tiles=tiles_for(machine))
    recipes = PackingRecipes()
    common = [one.sizes for one in description.common]
    blocks = {size for sizes in common for size in sizes.values()} if options.has_blocks else frozenset[int]()
    lowered = lower_for(mod, machine, description.batch or None, recipes, common, custom_code, options, blocks)
    external = custom_code.external(lowered)
    compiled, source = _compile_for(lowered, machine, external, options)
    sized_calls = {
        name: describe_calls(main_calls, lowered.common[name], unaligned)
        for name, (main_calls, unaligned) in compiled.common.items()
    }
    described = replace(
        description,
        calls=describe_calls(compiled.calls, lowered.origins, compiled.unaligned, sized_calls),
        lowerings=custom_code.describe(lowered, external),
        notes=lowered.kernel_notes,
    )
    return Parts(
        compiled.code, machine, described, lowered.kernel_names, mod,
        source=source, native=compiled.native, recipes=recipes, matches=dict(lowered.matches),
    )  # fmt: skip


def _measure_tiles(mod: tvm.IRModule, machine: CpuTarget | CudaTarget, seconds: float | None) -> None:
    """Measure tiles of products for so many seconds and keep them in the cache; None: not at all."""
    if seconds is None:
        return
    if isinstance(machine, CudaTarget):
        raise ConfigError("build: tune= measures kernels of CPUs; leave it out for 'cuda'")
    with progress_line() as advance:
        measure_tiles(mod, machine, seconds, advance)


def lower_for(
    mod: tvm.IRModule,
    machine: CpuTarget | CudaTarget,
    batch: str | None,
    recipes: PackingRecipes,
    common: Sequence[Mapping[str, int]],
    custom_code: CustomCode,
    options: BuildOptions,
    blocks: Set[int] = frozenset(),
) -> LoweredModule:
    """The module as calls of kernels; blocks: common sizes that share packed weights."""
    if isinstance(machine, CudaTarget):
        return lower_functions(mod, lambda part, shared: CudaLowerer(part, machine, shared=shared), batch)
    isa = replace(machine.isa, tiles=options.tiles)
    isa_of_blocks = replace(isa, tiles=BlockTiles(options.tiles, blocks))
    has_single_rows = any(set(sizes.values()) == {1} for sizes in common)  # such as single tokens beside any number
    isa_of_main = replace(isa, tiles=BlockTiles(options.tiles, {USUAL_ROWS})) if has_single_rows else isa

    def walk(part: tvm.IRModule, shared: Lowerer | None) -> Lowerer:
        part, custom_calls, selection = with_lowerings(part, custom_code.lowerings, custom_code.composites)
        lowerer = Lowerer(part, isa_of_main if shared is None else isa_of_blocks, shared=shared)
        lowerer.custom_calls, lowerer.mismatches = custom_calls, selection.mismatches
        lowerer.record_packing, lowerer.long_kernels = recipes.add, options.long_kernels
        return lowerer

    return lower_functions(mod, walk, batch, common)


def _of_sizes(mod: tvm.IRModule, sizes: Mapping[str, int]) -> tvm.IRModule:
    """The module for these sizes, in as many functions as before; ConfigError for a size that it does not take."""
    limits = size_limits(unpack_weights(inline_functions(mod)))
    for name, size in sizes.items():
        if name in limits and isinstance(size, int | np.integer):
            check_limit(name, size, asdict(limits[name]))
    fixed = of_sizes(mod, sizes)
    return partition_conversions(fixed) if is_partitioned(mod) else fixed


def _compile_for(
    lowered: LoweredModule, machine: CpuTarget | CudaTarget, external: ExternalCode, options: BuildOptions
) -> tuple[VmModule, str]:
    """Code, and the source of a GPU's kernels."""
    if isinstance(machine, CudaTarget):
        code, source = compile_cuda(lowered.module, machine)
        return VmModule(code, (), None), source
    return compile_module(lowered.module, machine, list(lowered.common), external, options), ""
