"""relay.transform: Relay's names of passes, as passes of Relax where it has one that does the same.

A pass takes a module of Relax, or one of relay.IRModule, and gives one of the same kind. What Relax does on its own
(types, graph form, inlining) is a pass that only normalizes.

Tests: tests/relay/test_migrating_claims.py
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tvm
from tvm import relax

from tvmq.errors import UnsupportedOpError
from tvmq.relay.module import Sequential, keeping_kind, makes_pass, module_pass


class PassContext:
    """Makes TVM's PassContext; options of Relay's ("relay.backend.use_auto_scheduler") are left out, with a warning.

    opt_level       2 as ever; nothing of tvmq depends on it
    disabled_pass   names, in a list or a set; those of Relay's passes disable nothing

    >>> with PassContext(opt_level=3, disabled_pass={"AlterOpLayout"}) as context:
    ...     context.opt_level, PassContext.current().opt_level
    (3, 3)
    """

    def __new__(
        cls, opt_level: int = 2, required_pass: Any = None, disabled_pass: Any = None, instruments: Any = None,
        config: Mapping[str, Any] | None = None, trace: Any = None,
    ) -> Any:  # fmt: skip
        ours = {name: value for name, value in (config or {}).items() if not name.startswith("relay.")}
        left = sorted(set(config or {}) - set(ours))
        if left:
            warnings.warn(f"PassContext: {', '.join(left)} went with Relay, and is ignored", stacklevel=2)
        required, disabled = (None if names is None else sorted(names) for names in (required_pass, disabled_pass))
        return tvm.transform.PassContext(opt_level, required, disabled, instruments, ours or None)

    @staticmethod
    def current() -> Any:
        """The context of the innermost scope."""
        return tvm.transform.PassContext.current()


# Names of passes that leave a module as it is -> why a script gets what it expects
_NOTHING_LEFT = {
    "AlterOpLayout": "layouts are chosen by tvmq.build, for the kernels that it takes",
    "CanonicalizeCast": "casts are joined with what stands beside them by tvmq.build",
    "CanonicalizeOps": "a bias is an addition already",
    "DynamicToStatic": "sizes that are constants are numbers already",
    "InferType": "a module of Relax has all types",
    "Legalize": "operators become what a target computes in tvmq.build",
    "SimplifyExpr": "results stay; what can be simplified is by tvmq.quantize and tvmq.build",
    "ToANormalForm": "bindings of Relax are in that form",
    "ToBasicBlockNormalForm": "bindings of Relax are in that form",
    "ToGraphNormalForm": "functions are seen as graphs, whatever their form is",
}


def _normalizing(name: str, why: str) -> Callable[..., Any]:
    def make(*args: Any, **options: Any) -> Any:
        return keeping_kind(relax.transform.Normalize())

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"As relay.transform.{name}, which has nothing left to do: {why}."
    return make


_MADE = {name: _normalizing(name, why) for name, why in _NOTHING_LEFT.items()}


@makes_pass
def FoldConstant(fold_qnn: bool = False) -> Any:
    """As relay.transform.FoldConstant."""
    return relax.transform.FoldConstant()


@makes_pass
def DeadCodeElimination(inline_once: bool = False, ignore_impurity: bool = False) -> Any:
    """As relay.transform.DeadCodeElimination; nothing is inlined, for Relax's bindings are shared already."""
    return relax.transform.DeadCodeElimination()


@makes_pass
def EliminateCommonSubexpr(fskip: Callable[[Any], bool] | None = None) -> Any:
    """As relay.transform.EliminateCommonSubexpr; raises UnsupportedOpError for fskip."""
    if fskip is not None:
        raise UnsupportedOpError("relay.transform.EliminateCommonSubexpr: fskip is not supported; leave it out")
    return relax.transform.EliminateCommonSubexpr()


@makes_pass
def SimplifyInference() -> Any:
    """As relay.transform.SimplifyInference: batch normalization becomes arithmetic."""
    return relax.transform.DecomposeOpsForInference()


@makes_pass
def CombineParallelDense(min_num_branches: int = 3, to_batch: bool = True) -> Any:
    """As relay.transform.CombineParallelDense: products of one tensor with several weights become one."""
    return relax.transform.CombineParallelMatmul()


CombineParallelBatchMatmul = CombineParallelDense


@makes_pass
def FuseOps(fuse_opt_level: int = -1) -> Any:
    """As relay.transform.FuseOps; the operators are legalized and their patterns found first."""
    steps = [relax.transform.LegalizeOps(), relax.transform.AnnotateTIROpPattern()]
    return Sequential([*steps, relax.transform.FuseOps(fuse_opt_level)])


@makes_pass
def ConvertLayout(desired_layouts: Mapping[str, Any]) -> Any:
    """As relay.transform.ConvertLayout: {operator: [data layout, kernel layout]}; "default" is Relax's own choice.

    >>> ConvertLayout({"nn.conv2d": ["NHWC", "OHWI"]}).info.name
    'ConvertLayout'
    """
    wanted = {f"relax.{name}": _layouts(layouts) for name, layouts in desired_layouts.items()}
    return relax.transform.ConvertLayout(wanted)


def _layouts(layouts: Any) -> list[str]:
    """Data and kernel layout, spelt out where Relay said "default"."""
    names = [layouts] if isinstance(layouts, str) else [str(layout) for layout in layouts]
    kernels = {"NCHW": "OIHW", "NHWC": "HWIO"}
    if len(names) == 1 or names[1] == "default":
        names = [names[0], kernels.get(names[0], "OIHW")]
    return names


@makes_pass
def ToMixedPrecision(mixed_precision_type: str = "float16", missing_op_mode: int = 1) -> Any:
    """As relay.transform.ToMixedPrecision: products in 16 bits, sums in 32; only float16.

    raises  UnsupportedOpError  another type
    """
    if mixed_precision_type != "float16":
        raise UnsupportedOpError(f"relay.transform.ToMixedPrecision: {mixed_precision_type} is not there; use float16")
    return relax.transform.ToMixedPrecision()


@makes_pass
def FastMath() -> Any:
    """As relay.transform.FastMath."""
    return relax.transform.FastMathTransform()


@makes_pass
def Inline() -> Any:
    """As relay.transform.Inline: private functions are taken over into their callers."""
    return relax.transform.InlinePrivateFunctions()


@makes_pass
def RemoveUnusedFunctions(entry_functions: list[str] | None = None) -> Any:
    """As relay.transform.RemoveUnusedFunctions."""
    return relax.transform.DeadCodeElimination(entry_functions)


@makes_pass
def FoldScaleAxis() -> Any:
    """As relay.transform.FoldScaleAxis, for batch normalization behind convolutions; tvmq.quantize folds the rest."""
    return relax.transform.FoldBatchnormToConv2D()


ForwardFoldScaleAxis = BackwardFoldScaleAxis = FoldScaleAxis


def FakeQuantizationToInteger(
    hard_fail: bool = False, use_qat: bool = False, optional_qnn_ops: Sequence[str] | None = None
) -> Any:
    """As relay.transform.FakeQuantizationToInteger: operators between qnn.dequantize and qnn.quantize as integers.

    It is `tvmq.quantize` of a module that brings its scales: those are adopted, no data are read; `tvmq.explain` lists
    what stayed float, and why. A module without scales is left as it is.

    hard_fail         the pass fails, with a RuntimeError, where an operator of a module with scales stays float
    use_qat           no effect: a product whose result is not quantized is integers anyway
    raises            UnsupportedOpError  for optional_qnn_ops: softmax stays float
    """
    if optional_qnn_ops:
        raise UnsupportedOpError(
            f"relay.transform.FakeQuantizationToInteger: optional_qnn_ops={optional_qnn_ops!r} is not supported; leave "
            "it out, tvmq.explain(mod) lists what stayed float"
        )

    def run(mod: tvm.IRModule, context: Any) -> tvm.IRModule:
        return _make_integers(mod, hard_fail=hard_fail)

    return module_pass(run, opt_level=0, name="FakeQuantizationToInteger")


def _make_integers(mod: tvm.IRModule, *, hard_fail: bool) -> tvm.IRModule:
    import tvmq
    from tvmq.extension import View, op_name
    from tvmq.relay.module import as_relax

    floats = as_relax(mod)
    own = any(op_name(value) in ("tvmq.quantize", "tvmq.dequantize") for _, value in View(floats).bindings)
    if not own:
        return floats
    integers = tvmq.quantize(*tvmq.from_relax(floats, {}))
    layers = tvmq.explain(integers).ledger.layers
    left = [f"'{name}', {layer['why']}" for name, layer in layers.items() if layer["precision"] == "float"]
    if hard_fail and left:
        raise UnsupportedOpError(f"relay.transform.FakeQuantizationToInteger: hard_fail, and float stays {left[0]}")
    return integers


def function_pass(
    pass_func: Any = None, opt_level: int = 0, name: str | None = None, required: Sequence[str] | None = None
) -> Any:
    """As relay.transform.function_pass: decorates what makes a function of Relay's names from another.

    pass_func  (function, module, context) -> function, or a class with a method transform_function of that form

    >>> @function_pass(opt_level=1)
    ... def doubled(func, mod, context):
    ...     return Function(func.params, func.body + func.body)
    >>> from tvmq.relay.expr import Function, var
    >>> from tvmq.relay.module import IRModule
    >>> x = var("x", shape=(2,))
    >>> print(doubled(IRModule.from_expr(-x)).astext(), end="")
    #[version = "0.0.5"]
    def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] {
      %0 = negative(%x) /* ty=Tensor[(2), float32] */;
      add(%0, %0) /* ty=Tensor[(2), float32] */
    }
    """
    if pass_func is None:
        return lambda func: function_pass(func, opt_level, name, required)
    if isinstance(pass_func, type):
        kind = pass_func
        return lambda *args, **options: function_pass(kind(*args, **options).transform_function, opt_level, name)
    return module_pass(_on_functions(pass_func), opt_level=opt_level, name=name or pass_func.__name__)


def _on_functions(transform: Callable[..., Any]) -> Callable[[tvm.IRModule, Any], tvm.IRModule]:
    def run(mod: tvm.IRModule, context: Any) -> tvm.IRModule:
        from tvmq.relay.module import as_module, as_relax

        module = as_module(mod.clone())
        for variable, func in mod.functions_items():
            if isinstance(func, relax.Function):
                module[variable.name_hint] = transform(module[variable.name_hint], module, context)
        return as_relax(module)

    return run


def __getattr__(name: str) -> Any:
    """Passes that leave nothing to do; other names are refused, with what to do instead (PEP 562)."""
    from tvmq.relay.advice import advice

    if name in _MADE:
        return _MADE[name]
    raise AttributeError(f"relay.transform.{name}: {advice(f'transform.{name}')}")
