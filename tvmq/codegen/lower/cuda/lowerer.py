"""From a module of ours to calls of kernels of a GPU: which rule takes which operator.

The walk and the layouts are those of lower/lowerer.py: pictures live in NHWC as long as their readers take them so. A
rule is a function of a Lowerer and a Chain. It gives the chain's result by

    lowerer.call(kernel, inputs, shape, dtype, name)      kernel: a tvmq.codegen.kernels.parts.kernel_types.Kernel
    lowerer.give_nhwc(chain.result, value)                or give_logical

and returns True; False leaves the chain to the generic way: each of its members by its own rule, and what has none as
it stands. The function of a kernel binds its loops to blockIdx and threadIdx itself; neither fusion nor the generic
schedule touch it.

Rules of GPUs for operators whose rules for CPUs rest on kernels of CPUs.

Tests: tests/cuda_emulator/test_models.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tvm
from tvm import relax

from tvmq.codegen.kernels.attention.batch_matmul import choose_batch_matmul
from tvmq.codegen.kernels.conv.choose import choose_convolution
from tvmq.codegen.kernels.cuda import templates
from tvmq.codegen.kernels.parts.kernel_types import Kernel
from tvmq.codegen.kernels.recurrent.recurrent import choose_recurrent
from tvmq.codegen.lower.lowerer import LOWERINGS, Choice, Lowerer
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.rules.elementwise import emit_requantize
from tvmq.codegen.lower.rules.recurrent import lower as lower_recurrent
from tvmq.codegen.target.cuda import CudaTarget
from tvmq.errors import BuildError
from tvmq.graph import ops
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RECURRENT
from tvmq.graph.sizes import is_number
from tvmq.graph.view import op_name, shape_of


def sum_pool(lowerer: Lowerer, chain: Chain) -> bool:
    """Sums over whole pictures in NHWC; other windows lie in the layout of the IR."""
    call = lowerer.view.value[chain.head]
    source = call.args[0].name
    sizes = list(shape_of(call.args[0]))[2:]
    whole = [int(k) for k in call.attrs.kernel] == sizes and not any(int(p) for p in call.attrs.padding)
    if not whole or not lowerer.is_rank4(source) or not lowerer.has_nhwc(source):
        return False
    value = ops.sum(lowerer.nhwc(source), axes=[1, 2], keepdims=True, zero_point=call.attrs.zero_point)
    var = lowerer.emit(value, chain.head)
    for name in chain.after_head():
        var = lowerer.emit(emit_requantize(lowerer, var, name, True), name)
    lowerer.give_nhwc(chain.result, var)
    return True


def lower_loop(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower a recurrent layer to one kernel for all steps; nothing else can follow a loop over time."""
    if lower_recurrent(lowerer, chain):
        return True
    names = ", ".join(lowerer.view.sources(chain.head)) or chain.head
    hidden = shape_of(lowerer.view.value[chain.head].args[1])[0]
    raise BuildError(
        f"build, layer '{names}': a state of {hidden} hidden units does not fit the shared memory of a GPU; "
        "build for a CPU"
    )


# Rules of LOWERINGS that keep layouts together and need no kernel of a CPU.
SHARED = (
    "nn.max_pool2d", "nn.avg_pool2d", "mean", "max", "min", "tvmq.sum", "tvmq.requantize", "tvmq.dequantize",
    "tvmq.quantize", "tvmq.add", "tvmq.multiply", "tvmq.table", "tvmq.scale_shift", "tvmq.prelu", "tvmq.resample",
    "tvmq.simulated_quantize", "concat", "nn.pad", "reshape", "flatten", "squeeze", "expand_dims", "strided_slice",
    "image.resize2d", "take", "tile", "flip", "broadcast_to", "nn.relu", "clip", "sigmoid", "tanh", "exp", "erf",
    "nn.silu", "nn.gelu", "nn.leakyrelu", "sqrt", "negative", "abs", "add", "subtract", "multiply", "divide",
    "maximum", "minimum", "astype", "equal", "not_equal", "greater", "greater_equal", "less", "less_equal",
)  # fmt: skip

# Whose kernels for GPUs are in tvmq/codegen/kernels/cuda/.
TEMPLATES = ("nn.conv1d", "nn.conv2d", "matmul", "tvmq.matmul")

# operator at the head of a chain -> rule
CUDA_LOWERINGS: dict[str, str] = {
    **{name: LOWERINGS[name] for name in (*SHARED, *TEMPLATES)},
    "where": "tvmq.codegen.lower.rules.elementwise:same_layout",
    "tvmq.sum_pool": "tvmq.codegen.lower.cuda.lowerer:sum_pool",
    **dict.fromkeys(where(kind=RECURRENT), "tvmq.codegen.lower.cuda.lowerer:lower_loop"),
}


# what chooses a kernel of CPUs -> what chooses one for a GPU; without one the generic schedule is taken
TEMPLATES_OF_CPUS: dict[Choice, Choice] = {
    choose_convolution: templates.choose_convolution,
    choose_batch_matmul: templates.choose_batch_matmul,
    choose_recurrent: templates.choose_recurrent,
}


class CudaLowerer(Lowerer):
    """The walk of Lowerer with the rules of a GPU."""

    rules = CUDA_LOWERINGS
    any_size = ("take", *where(kind=RECURRENT))
    gpu = True
    fused_kernels = False

    def __init__(self, mod: tvm.IRModule, target: CudaTarget, *, shared: Lowerer | None = None) -> None:
        super().__init__(mod, target.isa, shared=shared)
        self.target = target

    def choose(self, choose: Choice, *args: Any, **options: Any) -> Kernel | None:
        """As Lowerer, of the kernels for GPUs, which make no use of options."""
        own = TEMPLATES_OF_CPUS.get(choose)
        return own(*args, self.isa.arch) if own else None

    def lower_by_rule(self, chain: Chain) -> bool:
        """As Lowerer, but a shuffle of pixels is three operators: the kernels that do it at once are of CPUs."""
        shuffle = op_name(self.view.value[chain.head]) == "reshape" and len(chain.members) > 1
        return not shuffle and super().lower_by_rule(chain)

    def reshape(self, value: relax.Expr, shape: Sequence[Any], name: str) -> relax.Expr:
        """As Lowerer, without a reshape to the shape that is there: neighbours would not be fused across it."""
        current, wanted = list(value.ty.shape), list(shape)
        if all(map(is_number, (*current, *wanted))) and list(map(int, current)) == list(map(int, wanted)):
            return value
        return super().reshape(value, shape, name)

    def lower_without_rule(self, chain: Chain) -> None:
        """Each member by a rule of its own."""
        for name in chain.members:
            if len(chain.members) == 1 or not self.lower_by_rule(Chain(name, [name])):
                self.emit_unchanged([name])
