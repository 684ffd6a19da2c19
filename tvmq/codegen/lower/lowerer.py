"""From a module of ours to calls of kernels: pictures become NHWC, neighbouring operators become one function.

One walk over the bindings. Every tensor of rank 3 to 5 may exist in two layouts: "logical" (channels second, as in
the IR) and "nhwc"; a rule asks for the layout it wants and a transpose is emitted only where the other one is all
there is. In "nhwc" a line (N, C, W) is a picture of one row, a volume (N, C, D, H, W) one of D * H rows.
Rules for operators are in lower/rules/; what no rule takes is emitted as it stands and gets TVM's own
lowering with the generic schedule: slower, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.base.by_name import load_object
from tvmq.codegen.custom_lowering.selection import Mismatch
from tvmq.codegen.kernels.parts.builder import Shape
from tvmq.codegen.kernels.parts.kernel_types import Isa, Kernel
from tvmq.codegen.kernels.parts.packing import Int4Weights
from tvmq.codegen.kernels.parts.work import KernelWork
from tvmq.codegen.lower.early_codes import codes_early
from tvmq.codegen.lower.lowering_calls import CustomCall, lower_custom_call
from tvmq.codegen.lower.main_calls import CallOrigin, origin_of
from tvmq.codegen.lower.patterns.chains import Chain, find_chains
from tvmq.codegen.schedule.float_rounding import protect_rounding, rounds
from tvmq.codegen.schedule.generic import mark_kernel
from tvmq.graph import ops
from tvmq.graph.names import UniqueNames, identifier, merge, with_names
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RECURRENT
from tvmq.graph.rewrite import build_function, replace_variables
from tvmq.graph.sizes import is_number, name_dynamic_sizes
from tvmq.graph.view import View, dtype_of, is_const, leaves, op_name, shape_of, used_vars

Rule = Callable[["Lowerer", Chain], bool]
Choice = Callable[..., Kernel | None]

LEAST_SHARED = 4096  # bytes of a constant that is compared with others

# which keep the layout of their input
VALUE_BY_VALUE = (
    "nn.relu", "clip", "sigmoid", "tanh", "exp", "erf", "nn.silu", "nn.gelu", "nn.leakyrelu", "sqrt", "negative",
    "abs", "add", "subtract", "multiply", "divide", "maximum", "minimum", "tvmq.simulated_quantize",
    "tvmq.round_floats", "tvmq.scale_shift", "astype", "equal", "not_equal", "greater", "greater_equal", "less",
    "less_equal",
)  # fmt: skip

# operator at the head of a chain -> rule; a rule returns False to leave the chain to the generic way
LOWERINGS: dict[str, str] = {
    "nn.conv1d": "tvmq.codegen.lower.rules.conv2d:lower",
    "nn.conv2d": "tvmq.codegen.lower.rules.conv2d:lower",
    "nn.conv3d": "tvmq.codegen.lower.rules.conv2d:lower_volume",
    **dict.fromkeys(
        ("tvmq.conv_transpose", "nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose"),
        "tvmq.codegen.lower.rules.conv_transpose:lower",
    ),
    "matmul": "tvmq.codegen.lower.rules.dense:lower",
    "tvmq.matmul": "tvmq.codegen.lower.rules.attention:lower_batch_matmul",
    **dict.fromkeys(("tvmq.group_matmul", "tvmq.group_offset_matmul"), "tvmq.codegen.lower.rules.dense:lower_groups"),
    "nn.max_pool1d": "tvmq.codegen.lower.rules.pool:max_pool",
    "nn.max_pool2d": "tvmq.codegen.lower.rules.pool:max_pool",
    "nn.max_pool3d": "tvmq.codegen.lower.rules.pool:max_pool",
    "tvmq.sum_pool": "tvmq.codegen.lower.rules.pool:sum_pool",
    "tvmq.sum": "tvmq.codegen.lower.rules.pool:global_sum",
    "tvmq.quantize": "tvmq.codegen.lower.rules.convert:quantize",
    "tvmq.dequantize": "tvmq.codegen.lower.rules.convert:dequantize",
    "tvmq.requantize": "tvmq.codegen.lower.rules.convert:requantize",
    **dict.fromkeys(("tvmq.dynamic_scale", "tvmq.dynamic_dequantize"), "tvmq.codegen.lower.rules.dynamic_codes:lower"),
    "tvmq.float_sum": "tvmq.codegen.lower.rules.norm:lower_float_sum",
    "tvmq.softmax": "tvmq.codegen.lower.rules.norm:lower_softmax",
    **dict.fromkeys(("tvmq.layer_norm", "tvmq.rms_norm", "tvmq.group_norm"), "tvmq.codegen.lower.rules.norm:lower"),
    "tvmq.add": "tvmq.codegen.lower.rules.elementwise:add",
    "tvmq.multiply": "tvmq.codegen.lower.rules.elementwise:multiply",
    "where": "tvmq.codegen.lower.rules.elementwise:where",
    "tvmq.table": "tvmq.codegen.lower.rules.elementwise:table",
    "tvmq.observe": "tvmq.codegen.lower.rules.observe:lower",
    **dict.fromkeys(where(kind=RECURRENT), "tvmq.codegen.lower.rules.recurrent:lower"),
    "tvmq.prelu": "tvmq.codegen.lower.rules.elementwise:prelu",
    "concat": "tvmq.codegen.lower.rules.shape:concat",
    "nn.pad": "tvmq.codegen.lower.rules.shape:pad",
    "reshape": "tvmq.codegen.lower.rules.shape:reshape",
    "flatten": "tvmq.codegen.lower.rules.shape:reshape",
    "squeeze": "tvmq.codegen.lower.rules.shape:reshape",
    "expand_dims": "tvmq.codegen.lower.rules.shape:reshape",
    "split": "tvmq.codegen.lower.rules.shape:split",
    "strided_slice": "tvmq.codegen.lower.rules.shape:strided_slice",
    "image.resize2d": "tvmq.codegen.lower.rules.shape:resize",
    "tvmq.resample": "tvmq.codegen.lower.rules.shape:resample",
    "take": "tvmq.codegen.lower.rules.shape:take",
    "tile": "tvmq.codegen.lower.rules.shape:tile",
    "flip": "tvmq.codegen.lower.rules.shape:flip",
    "permute_dims": "tvmq.codegen.lower.rules.shape:permute_dims",
    "broadcast_to": "tvmq.codegen.lower.rules.shape:broadcast_to",
    "max": "tvmq.codegen.lower.rules.pool:extreme",
    "min": "tvmq.codegen.lower.rules.pool:extreme",
    "mean": "tvmq.codegen.lower.rules.pool:mean",
    "nn.avg_pool2d": "tvmq.codegen.lower.rules.pool:average_pool",
    **dict.fromkeys(VALUE_BY_VALUE, "tvmq.codegen.lower.rules.elementwise:same_layout"),
}


# Operators whose rules take tensors of dynamic sizes; all others go the generic way then.
ANY_SIZE = (
    "nn.conv1d", "nn.conv2d", "nn.conv3d", "nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose",
    "tvmq.conv_transpose", "nn.max_pool2d",
    "image.resize2d", "concat", "take", "matmul", "tvmq.matmul", "tvmq.group_matmul", "tvmq.group_offset_matmul",
    "tvmq.layer_norm",
    "tvmq.rms_norm", "tvmq.float_sum", "tvmq.quantize", "tvmq.dequantize", "tvmq.add", "tvmq.table", "tvmq.multiply",
    "tvmq.prelu", "nn.pad", "nn.avg_pool2d", "tvmq.sum_pool", "tvmq.softmax", "tvmq.dynamic_scale",
    "tvmq.dynamic_dequantize", "strided_slice", *where(kind=RECURRENT), *VALUE_BY_VALUE,
)  # fmt: skip


# Whose first operand may be a constant; all other rules are about a tensor that is computed.
CONSTANT_FIRST = ("take", "where", "concat", "add", "subtract", "multiply", "divide", "maximum", "minimum")


# axes of a transpose between the layouts
TO_NHWC, TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)


def lower(mod: tvm.IRModule, isa: Isa) -> tvm.IRModule:
    """A module whose main function calls kernels; what they are called is in `kernel_names`."""
    return Lowerer(mod, isa).run()


class Lowerer:
    """The walk over one function: which tensors exist in which layout, and what has been emitted so far.

    shared   the walk over another function of the same module: kernels of equal key are those that it made

    `logical`, `nhwc`, `emit` and `call` are for rules; `__init__` says what each field holds.
    """

    rules: Mapping[str, str] = LOWERINGS
    any_size: Sequence[str] = ANY_SIZE
    gpu = False  # the kernels are those of a GPU
    fused_kernels = True  # of a whole attention, norms with what is around them, float chains; see `find_chains`

    def __init__(self, mod: tvm.IRModule, isa: Isa, *, shared: Lowerer | None = None) -> None:
        # What is lowered, and for what. The caller sets the last four before `run`: if not, functions such as exp are
        # left to loops (`BuildOptions.long_kernels`); weights that kernels may read as
        # codes of 4 bits, by the variable of the layer that reads them; the calls that become functions of the user, by
        # the variables of their results; and what is called with every kernel (it keeps recipes of packed weights)
        self.view = View(codes_early(mod) if self.fused_kernels else mod)
        self.isa = isa
        self.long_kernels = True
        self.int4_weights: dict[str, Int4Weights] = {}
        self.custom_calls: dict[str, CustomCall] = {}
        self.record_packing: Callable[[Kernel], None] | None = shared.record_packing if shared else None

        # Results. Names and notes of kernels, and what each call stands for, by the variable of the *lowered* function
        # that it computes: `explain`, cost model and profile join these with source layers. `mismatches`
        # are layers that begin as a lowering of the user does, and are not taken, with the reason
        self.kernel_names: dict[str, str] = {}
        self.kernel_notes: dict[str, str] = {}
        self.origins: dict[str, CallOrigin] = {}
        self.lowered_calls: list[dict[str, Any]] = []  # custom calls as they were emitted, in order
        self.mismatches: tuple[Mismatch, ...] = ()

        # Facts about the module's functions of loops, one object for all walks over one module: a kernel's key says all
        # that its code depends on, so layers of equal key call one function, whichever function they stand in
        self.functions: dict[object, tvm.ir.GlobalVar] = shared.functions if shared else {}  # by key
        self.works: dict[str, KernelWork | None] = shared.works if shared else {}  # by symbol
        self.generated: dict[str, relax.Function] = shared.generated if shared else {}  # for code generators, by symbol
        self._constants: dict[Any, relax.Expr] = shared._constants if shared else {}  # by shape, type and hash
        self._builder: relax.BlockBuilder = shared._builder if shared else relax.BlockBuilder()
        self._unique = UniqueNames(self.view.params)  # variables, of this function
        self._symbol: UniqueNames = shared._symbol if shared else self._unique  # functions, unique in the module

        # State of the walk: bindings emitted so far, and the tensors that exist, by their variables of the IR, in each
        # layout that was emitted or asked for. Most exist in one; a transpose is emitted once, where a rule first asks
        # for the other. A tensor in neither has disappeared inside of a kernel
        self._bindings: list[tuple[relax.Var, relax.Expr]] = []
        self._logical: dict[str, relax.Expr] = dict(self.view.params)
        self._nhwc: dict[str, relax.Expr] = {}

        # Provenance: source names of each emitted variable. `_sources` and `_origin` are those of the chain being
        # lowered, so that rules emit as many variables as they like and need not say where these come from
        self._names: dict[str, tuple[str, ...]] = {}
        self._sources: tuple[str, ...] = ()
        self._origin = CallOrigin((), 0, "")

    def run(self) -> tvm.IRModule:
        """Lower all bindings."""
        chains = find_chains(self.view, gpu=self.gpu, fused_kernels=self.fused_kernels, long_kernels=self.long_kernels)
        inner = {name for chain in chains.values() for name in chain.members[:-1]}
        for var, _ in self.view.bindings:
            if var.name in inner:
                continue
            if var.name in self.custom_calls:
                self._lower_custom_call(var.name)
                continue
            chain = chains.get(var.name) or Chain(var.name, [var.name])
            self.lower(chain)
        return self._finish()

    def lower(self, chain: Chain) -> None:
        """Lower a chain by its rule, or the generic way."""
        self._sources = merge(*(self.view.sources(name) for name in chain.members))
        self._origin = origin_of(self.view, chain.members)
        if not self.lower_by_rule(chain):
            self.lower_without_rule(chain)

    def _lower_custom_call(self, name: str) -> None:
        """Emit the call of a lowering of the user."""
        custom_call = self.custom_calls[name]
        self._sources, self._origin = custom_call.hit.match.layers, custom_call.origin
        lower_custom_call(self, name, custom_call)

    def new_symbol(self, name: str) -> str:
        """A name of a function that no other has."""
        return self._symbol(identifier(name))

    def lower_without_rule(self, chain: Chain) -> None:
        """Lower a chain that no rule has taken."""
        self.emit_unchanged(chain.members)

    # ---- what rules use

    def exists(self, name: str) -> bool:
        """True if the tensor is there in any layout; not what has disappeared inside a kernel."""
        return name in self._logical or self.was_given_nhwc(name)

    def is_rank4(self, name: str) -> bool:
        """True for tensors that may live in NHWC."""
        ty = self.view.var[name].ty
        return isinstance(ty, relax.TensorType) and ty.ndim == 4

    def is_picture(self, name: str) -> bool:
        """True for tensors that may live in NHWC if lines and volumes are taken for pictures."""
        ty = self.view.var[name].ty
        return isinstance(ty, relax.TensorType) and 3 <= ty.ndim <= 5

    def has_nhwc(self, name: str) -> bool:
        """True if the tensor exists in NHWC, or its bytes are those of NHWC (one pixel or one channel)."""
        return name in self._nhwc or (self.is_rank4(name) and _has_same_bytes(*list(self.view.var[name].ty.shape)[1:]))

    def was_given_nhwc(self, name: str) -> bool:
        """True if the tensor was made or moved to NHWC."""
        return name in self._nhwc

    def nhwc(self, name: str) -> relax.Expr:
        """The tensor in NHWC, transposed here if need be."""
        if name not in self._nhwc:
            picture = self.reshape(self._logical[name], picture_shape(self.view.var[name].ty.shape), f"{name}_rows")
            self._nhwc[name] = self._transpose(picture, TO_NHWC, f"{name}_nhwc")
        return self._nhwc[name]

    def logical(self, name: str) -> relax.Expr:
        """The tensor as the IR has it, transposed here if need be."""
        if name not in self._logical:
            picture, shape = self._transpose(self._nhwc[name], TO_NCHW, f"{name}_nchw"), self.view.var[name].ty.shape
            self._logical[name] = self.reshape(picture, list(shape), name)
        return self._logical[name]

    def tensor(self, name: str, *, nhwc: bool) -> relax.Expr:
        """The tensor in the layout that is asked for."""
        return self.nhwc(name) if nhwc else self.logical(name)

    def give(self, name: str, value: relax.Expr, *, nhwc: bool) -> None:
        """`name` now exists in that layout."""
        (self.give_nhwc if nhwc else self.give_logical)(name, value)

    def give_nhwc(self, name: str, value: relax.Expr) -> None:
        """`name` now exists in NHWC."""
        self._nhwc[name] = value

    def give_logical(self, name: str, value: relax.Expr) -> None:
        """`name` now exists as the IR has it."""
        self._logical[name] = value

    def emit(self, value: relax.Expr, name: str) -> relax.Var:
        """Bind a Relax expression; behind a float operator that rounds comes a fence."""

        def bind(part: relax.Expr) -> relax.Var:
            return self._bind(self._builder.normalize(part), f"{name}_kept")

        value = self._builder.normalize(protect_rounding(self._loadable(value), bind))
        if rounds(value):
            value = self._builder.normalize(ops.fence(self._bind(value, f"{name}_rounded")))
        return self._bind(value, name)

    def choose(self, choose: Choice, *args: Any, **options: Any) -> Kernel | None:
        """The kernel that `choose` picks for this instruction set; None: the generic way is taken."""
        return choose(*args, self.isa, **options)

    def call_te(self, compute: Callable[..., Any], *args: relax.Expr, name: str) -> relax.Call:
        """The call of a function of loops in plain TE, which gets the generic schedule."""
        return self._builder.call_te(compute, *args, primfunc_name_hint=name)

    def _loadable(self, expr: relax.Expr) -> relax.Expr:
        """The expression with empty constants as zeros: the virtual machine saves them, but cannot load them."""
        if is_const(expr) and 0 in shape_of(expr):
            return self._bind(self._builder.normalize(relax.op.zeros(shape_of(expr), dtype_of(expr))), "nothing")
        if isinstance(expr, relax.Tuple):
            return relax.Tuple([self._loadable(item) for item in expr.fields])
        if isinstance(expr, relax.Call):
            args = [self._loadable(arg) for arg in expr.args]
            return relax.Call(expr.op, args, expr.attrs, expr.ty_args, expr.span)
        return expr

    def _bind(self, value: relax.Expr, name: str) -> relax.Var:
        var = relax.DataflowVar(self._unique(name), value.ty)
        self._bindings.append((var, value))
        self._names[var.name] = self._sources
        self.origins[var.name] = self._origin
        return var

    def reshape(self, value: relax.Expr, shape: Sequence[Any], name: str) -> relax.Expr:
        """Reshape to numbers and names of dynamic sizes; no operator where the shape is there already."""
        if [str(d) for d in value.ty.shape] == [str(d) for d in shape]:
            return value
        return self.emit(relax.op.reshape(value, list(shape)), name)

    def call(
        self, kernel: Kernel, inputs: Sequence[relax.Expr], shape: Sequence[Any], dtype: str, name: str
    ) -> relax.Var:
        """Call a kernel on data inputs; kernels of equal key share one function."""
        return self._call_kernel(kernel, inputs, relax.TensorType(list(shape), dtype), name)

    def call_all(
        self, kernel: Kernel, inputs: Sequence[relax.Expr], outputs: Sequence[tuple[str, Sequence[Any], str]]
    ) -> list[relax.Var]:
        """Call a kernel with one or several outputs: (name, shape, dtype)."""
        if len(outputs) == 1:
            name, shape, dtype = outputs[0]
            return [self.call(kernel, inputs, shape, dtype, name)]
        types = [relax.TensorType(list(shape), dtype) for _, shape, dtype in outputs]
        every = self._call_kernel(kernel, inputs, types, f"{outputs[-1][0]}_all")
        return [self.emit(relax.TupleGetItem(every, i), name) for i, (name, _, _) in enumerate(outputs)]

    def constant(self, array: np.ndarray) -> relax.Expr:
        """A constant of a kernel; layers that share a weight share it packed, too."""
        array = np.asarray(array, order="C")
        if array.nbytes < LEAST_SHARED:
            return relax.const(array, str(array.dtype))
        key = array.shape, str(array.dtype), sha256(array.reshape(-1).view(np.uint8).data).digest()
        if key not in self._constants:
            self._constants[key] = relax.const(array, str(array.dtype))
        return self._constants[key]

    def _call_kernel(self, kernel: Kernel, inputs: Sequence[relax.Expr], out: Any, name: str) -> relax.Var:
        gvar = self.functions.get(kernel.key)
        if gvar is None:
            symbol = self._symbol(identifier(f"kernel_{kernel.name}"))
            func = mark_kernel(kernel.func.with_attr("global_symbol", symbol), kernel.name)
            gvar = self.functions[kernel.key] = self._builder.add_func(func, symbol)
            self.works[str(gvar.name_hint)] = kernel.work
        if self.record_packing is not None:
            self.record_packing(kernel)
        args = relax.Tuple([*inputs, *map(self.constant, kernel.constants)])
        var = self.emit(relax.call_tir(gvar, args, out), name)
        self.kernel_names[var.name] = kernel.name
        if kernel.note:
            self.kernel_notes[var.name] = kernel.note
        return var

    # ---- the walk

    def lower_by_rule(self, chain: Chain) -> bool:
        """Lower a chain by the rule of its head; False if there is none, or it leaves the chain alone."""
        call = self.view.value[chain.head]
        head = op_name(call)
        sizes = self._sizes(chain)
        takes_sizes = 0 not in sizes and (-1 not in sizes or head in self.any_size)  # no template counts to zero
        rule = self.rules.get(head) if takes_sizes else None
        if rule is None or (head not in CONSTANT_FIRST and is_const(next(iter(call.args), call))):
            return False
        return bool(load_object(rule)(self, chain))

    def has_fixed_sizes(self, chain: Chain) -> bool:
        """True unless a tensor that a chain reads or makes has a dynamic dimension."""
        return -1 not in self._sizes(chain)

    def _sizes(self, chain: Chain) -> list[int]:
        """All dimensions of what a chain reads and makes, -1 for dynamic ones."""
        names = [name for member in chain.members for name in (member, *used_vars(self.view.value[member]))]
        types = [self.view.var[name].ty for name in names]
        return [_static_size(dim) for ty in types if isinstance(ty, relax.TensorType) for dim in ty.shape]

    def emit_unchanged(self, names: Sequence[str]) -> None:
        """Emit bindings unchanged, on logical layouts."""
        for name in names:
            value = self.view.value[name]
            table = {used: self.logical(used) for used in used_vars(value)}
            self._sources = self.view.sources(name)
            self._logical[name] = self.emit(replace_variables(value, table), name)

    def _transpose(self, value: relax.Expr, axes: tuple[int, ...], name: str) -> relax.Expr:
        shape = [value.ty.shape[a] for a in axes]
        channels, rows, columns = (shape if axes == TO_NCHW else list(value.ty.shape))[1:]
        if _has_same_bytes(channels, rows, columns):
            return self.reshape(value, shape, name)
        from tvmq.codegen.lower.rules.convert import transpose

        return transpose(self, value, axes, name)

    def _finish(self) -> tvm.IRModule:
        body = self.view.func.body.body
        results = {var.name: self.logical(var.name) for var in leaves(body)}
        result = self._loadable(replace_variables(body, results))
        func = build_function(list(self.view.func.params), self._bindings, result, self.view.func)
        mod = self._builder.get()
        for helper, body in self.view.helpers.items():  # what call_tir of an importer calls
            mod[helper] = body
        mod["main"] = with_names(func.with_attr("global_symbol", "main"), self._names)
        return mod


def picture_shape(shape: Sequence[Any]) -> list[Any]:
    """A shape with channels second as that of pictures, NCHW.

    >>> picture_shape([2, 8, 100]), picture_shape([2, 8, 5, 6, 7])
    ([2, 8, 1, 100], [2, 8, 30, 7])
    """
    batch, channels, *sizes = (int(size) if is_number(size) else size for size in shape)
    return [batch, channels, math.prod(sizes[:-1]), sizes[-1]]


def kernel_shape(tensor: relax.Expr) -> Shape:
    """A tensor's shape as a kernel takes it: numbers, and names of dynamic sizes."""
    return name_dynamic_sizes(list(tensor.ty.shape))


def _static_size(dim: Any) -> int:
    """Size of a dimension, -1 for a dynamic one."""
    return int(dim) if is_number(dim) else -1


def _has_same_bytes(channels: Any, rows: Any, columns: Any) -> bool:
    """True if NCHW and NHWC hold the same bytes in the same order: one channel, or one pixel."""
    return _static_size(channels) == 1 or _static_size(rows) == _static_size(columns) == 1
