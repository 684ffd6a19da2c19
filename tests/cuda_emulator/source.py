"""CUDA source of TVM as C++ of the CPU: shared memory with guards, and a function that launches each kernel.

The text of the kernels stays as it is but for declarations of shared memory, which become members of one struct
with a guard behind each array; what the words mean there is in cuda_on_cpu.h.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

KERNEL = re.compile(
    r'^extern "C" __global__ void\s+(?:__launch_bounds__\((?P<most>\d+)[^)]*\)\s*)?'
    r"(?P<name>\w+)\((?P<params>[^)]*)\) \{\n(?P<body>.*?)^\}$",
    re.MULTILINE | re.DOTALL,
)
PROTOTYPE = re.compile(r'^extern "C" __global__ void[^{;]*;\n', re.MULTILINE)
SHARED = re.compile(r"^(?P<indent>\s*)(?P<dynamic>extern )?__shared__ (?P<declaration>[^;=]+);", re.MULTILINE)
INCLUDE = re.compile(r"^\s*#include <(?:cuda|mma|cooperative|math_constants)[^>]*>\n", re.MULTILINE)
# What only works among threads that wait for each other, of CUDA and of tvmq/codegen/kernels/cuda/device.py.
WAITS = re.compile(r"__sync|__shfl|_sync\(|__activemask|tvmq_mma|tvmq_warp|tvmq_matrices")
# A literal becomes a number of our class: in a template it must have the type of the values beside it.
LITERAL = re.compile(
    r"(?<![\w.])(?P<digits>0x[\da-fA-F]*\.?[\da-fA-F]*p[+-]?\d+|\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+)(?P<f>f?)(?![\w.])"
)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
AXES = tuple(f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx") for axis in "xyz")
DYNAMIC = "tirx.use_dyn_shared_memory"


@dataclass(frozen=True)
class KernelText:
    """A kernel of a source."""

    name: str
    params: tuple[str, ...]
    body: str
    most_threads: int

    @property
    def waits(self) -> bool:
        """True if its threads must run as fibers."""
        return WAITS.search(self.body) is not None


def kernels_in(source: str) -> list[KernelText]:
    """The kernels of a CUDA source, in order.

    >>> [kernel.params for kernel in kernels_in('extern "C" __global__ void k(float* x, int n) {\\n}\\n')]
    [('float* x', 'int n')]
    """
    return [_kernel(match) for match in KERNEL.finditer(source)]


def _kernel(match: re.Match[str]) -> KernelText:
    params = tuple(part.strip() for part in match["params"].split(",") if part.strip())
    return KernelText(match["name"], params, match["body"], int(match["most"] or 1024))


def on_cpu(source: str, launches: Mapping[str, Sequence[str]]) -> str:
    """C++ with a function `__tvm_ffi_<kernel>` for each kernel, as TVM's host code calls it.

    source     what TVM generated
    launches   {kernel: names of the launch parameters that follow its arguments, "blockIdx.x" and so on}
    raises     ValueError for a kernel that `launches` names and the source has not
    """
    missing = set(launches) - {kernel.name for kernel in kernels_in(source)}
    if missing:
        raise ValueError(f"the source has no kernel {sorted(missing)}; it has {[k.name for k in kernels_in(source)]}")
    text = COMMENT.sub("", PROTOTYPE.sub("", INCLUDE.sub("", source)))
    text = LITERAL.sub(_literal, text)
    return '#include "cuda_on_cpu.h"\n' + KERNEL.sub(lambda match: _rewritten(match, launches), text)


def _literal(match: re.Match[str]) -> str:
    return f"emulated::{'Float' if match['f'] else 'Double'}({match['digits']}{match['f']})"


def _rewritten(match: re.Match[str], launches: Mapping[str, Sequence[str]]) -> str:
    kernel = _kernel(match)
    members, body = _shared_memory(kernel)
    head = f"static void {kernel.name}({', '.join(kernel.params)}) {{"
    parts = [members, head, body + "}"]
    if kernel.name in launches:
        parts.append(_launcher(kernel, launches[kernel.name]))
    return "\n".join(parts)


def _shared_memory(kernel: KernelText) -> tuple[str, str]:
    """The struct of its shared arrays with the table of guards, and the body that uses it."""
    struct, fields, names = f"{kernel.name}_shared", [], []

    def use(match: re.Match[str]) -> str:
        declaration = match["declaration"]
        kind, name = declaration.partition("[")[0].strip().rsplit(maxsplit=1)
        if match["dynamic"]:
            kind = re.sub(r"alignas\(\d+\)", "", kind).strip()
            return f"{match['indent']}auto* {name} = ({kind}*)(emulated::shared_memory + sizeof({struct}));"
        fields.append(f"  {declaration}; emulated::Guard guard_{len(names)};")
        names.append(name)
        return f"{match['indent']}auto& {name} = (({struct}*)emulated::shared_memory)->{name};"

    body = SHARED.sub(use, kernel.body)
    sizes = " + ".join(f"sizeof({struct}::{name})" for name in names) or "0"
    offsets = ", ".join(f"offsetof({struct}, guard_{i})" for i in range(len(names))) or "0"
    members = [f"struct alignas(128) {struct} {{", *fields, "};"]
    members += [f"static const size_t {kernel.name}_guards[] = {{{offsets}}};"]
    members += [f"static const size_t {kernel.name}_declared = {sizes};"]
    return "\n".join(members), body


def _launcher(kernel: KernelText, launch: Sequence[str]) -> str:
    """A function of TVM's calling convention that runs the whole grid."""
    count, name = len(kernel.params), kernel.name
    guards = kernel.body.count("__shared__ ") - kernel.body.count("extern __shared__ ")
    given = {axis: f"(unsigned)a[{count + i}].integer" for i, axis in enumerate(launch) if axis != DYNAMIC}
    sizes = [given.get(axis, "1u") for axis in AXES]
    dynamic = f"a[{count + list(launch).index(DYNAMIC)}].integer" if DYNAMIC in launch else "0"
    arguments = ", ".join(_argument(param, i) for i, param in enumerate(kernel.params))
    facts = (
        f'"{name}", {name}_body, {str(kernel.waits).lower()}, sizeof({name}_shared), {name}_declared, {name}_guards, '
        f"{guards}, {kernel.most_threads}"
    )
    return f"""
static void {name}_body(void* given) {{
  auto* a = (const emulated::Argument*)given;
  {name}({arguments});
}}
EMULATED_EXPORT int __tvm_ffi_{name}(void*, const emulated::Argument* a, int32_t, emulated::Argument*) {{
  emulated::Kernel kernel = {{{facts}}};
  emulated::launch(kernel, {{{", ".join(sizes[:3])}}}, {{{", ".join(sizes[3:])}}}, {dynamic}, (void*)a);
  return 0;
}}
"""


def _argument(param: str, index: int) -> str:
    kind = re.sub(r"__restrict__|__grid_constant__|const ", "", param).strip()
    kind = kind[: re.search(r"\w+$", kind).start()].strip()  # type: ignore[union-attr]
    if kind.endswith("*"):
        return f"({kind})a[{index}].address"
    if kind in ("float", "double"):
        return f"({kind})(double)a[{index}].real"
    return f"({kind})a[{index}].integer"
