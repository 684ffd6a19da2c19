"""Every own operator: type, printing, saving, and a legalized form that is numerics bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.graph.op_case import Case
from tests.graph.op_cases import CASES
from tests.support.models.built_modules import build_module
from tvmq.codegen.compile.vm_pipeline import compile_module
from tvmq.codegen.target.cpu import missing_features, resolve_target
from tvmq.graph import ops

TARGETS = ["llvm", "llvm -mcpu=haswell"]


def function_of(case: Case) -> relax.Function:
    return build_module(case.inputs, lambda builder, *params: builder.emit(case.call(*params), "y"))["main"]


FUNCTIONS = {name: function_of(case) for name, case in CASES.items()}


def module_of(*names: str) -> tvm.IRModule:
    """Functions of several cases under their names."""
    return tvm.IRModule({name: FUNCTIONS[name].with_attr("global_symbol", name) for name in names})


@pytest.fixture(
    scope="module", params=[TARGETS[0], *(pytest.param(target, marks=pytest.mark.slow) for target in TARGETS[1:])]
)
def machine(request: pytest.FixtureRequest) -> relax.VirtualMachine:
    """All cases compiled at once, fused as `tvmq.build` fuses."""
    target = resolve_target(request.param)
    if missing_features(target.needs):
        pytest.skip(f"this CPU lacks {missing_features(target.needs)}")
    return relax.VirtualMachine(compile_module(module_of(*CASES), target).code, tvm.cpu())


def run(machine: relax.VirtualMachine, name: str) -> np.ndarray:
    """The result of a case."""
    return machine[name](*(tvm.runtime.tensor(array) for array in CASES[name].inputs.values())).numpy()


def assert_same_bits(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal type, shape and bits; any NaN equals any other."""
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if found.dtype == np.float32:
        nan = np.isnan(expected)
        np.testing.assert_array_equal(np.isnan(found), nan)
        found, expected = (np.where(nan, np.float32(0), array).view(np.int32) for array in (found, expected))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow_cases(
    "llvm-quantize_uint8_axism1_0_255", "llvm-quantize_int8_axism1_m127_127", "llvm-quantize_int8_axism1_m8_7",
)  # fmt: skip
@pytest.mark.parametrize("name", CASES)
def test_compiled_equals_the_definition(machine: relax.VirtualMachine, name: str) -> None:
    assert_same_bits(run(machine, name), CASES[name].expected(*CASES[name].inputs.values()))


@pytest.mark.parametrize("name", CASES)
def test_type_is_that_of_the_definition(name: str) -> None:
    expected = CASES[name].expected(*CASES[name].inputs.values())
    found = FUNCTIONS[name].ret_ty
    assert [int(d) for d in found.shape] == list(expected.shape)
    assert str(found.dtype) == str(expected.dtype)


@pytest.mark.parametrize("name", CASES)
def test_prints_and_parses_back(name: str) -> None:
    module = module_of(name)
    text = module.script(show_meta=True)
    assert f"R.tvmq.{FUNCTIONS[name].body.blocks[0].bindings[0].value.op.name.removeprefix('relax.tvmq.')}(" in text
    tvm.ir.assert_structural_equal(tvm.script.from_source(text), module)


@pytest.mark.parametrize("name", CASES)
def test_saves_and_loads(name: str) -> None:
    module = module_of(name)
    tvm.ir.assert_structural_equal(tvm.ir.load_json(tvm.ir.save_json(module)), module)


@pytest.mark.slow
def test_runs_under_stock_tvm() -> None:
    """After `import tvmq` TVM's own pipeline compiles our operators."""
    names = ["quantize_uint8_axism1_0_255", "requantize_float_UPWARD_axis1_2", "softmax_axis1", "add_1", "sum_pool_1"]
    machine = relax.VirtualMachine(tvm.compile(module_of(*names), "llvm"), tvm.cpu())
    for name in names:
        assert_same_bits(run(machine, name), CASES[name].expected(*CASES[name].inputs.values()))


# Kernels alone write them: tests/codegen/kernels/recurrent, tests/codegen/kernels/calibrate
WITHOUT_LEGALIZATION = ("observe", "recurrent", "recurrent_codes")


def test_every_operator_has_cases() -> None:
    names = {name.split("_")[0] for name in ops.__all__ if name not in WITHOUT_LEGALIZATION}
    assert {case.split("_")[0] for case in CASES} >= names


@pytest.mark.parametrize("name", sorted(set(ops.__all__).difference(WITHOUT_LEGALIZATION)))
def test_attributes_are_frozen(name: str) -> None:
    call = next(f.body.blocks[0].bindings[0].value for f in FUNCTIONS.values() if _op(f) == name)
    for field in type(call.attrs).__annotations__:
        with pytest.raises(AttributeError):
            setattr(call.attrs, field, getattr(call.attrs, field))


def _op(function: relax.Function) -> str:
    return function.body.blocks[0].bindings[0].value.op.name.removeprefix("relax.tvmq.")


def test_unknown_shapes_keep_their_rank() -> None:
    x = relax.Var("x", relax.TensorType(dtype="float32", ndim=3))
    call = relax.BlockBuilder().normalize(ops.quantize(x, relax.const(np.float32(1)), relax.const(np.int32(0))))
    assert call.ty.shape is None and call.ty.ndim == 3 and str(call.ty.dtype) == "uint8"


def test_symbolic_dimensions_are_kept() -> None:
    n = tvm.tirx.Var("n", "int64")
    x = relax.Var("x", relax.TensorType([n, 3], "int32"))
    call = ops.requantize(
        x, relax.const(np.float32(1)), relax.const(np.int32(0)), zero_point=0, dtype="int8", qmin=-128, qmax=127
    )
    ty = relax.BlockBuilder().normalize(call).ty
    assert ty.shape[0].same_as(n) and str(ty.dtype) == "int8"


def test_simulated_quantize_takes_three_arguments() -> None:
    x = relax.Var("x", relax.TensorType([1], "float32"))
    call = ops.simulated_quantize(x, relax.const(np.float32(1)), relax.const(np.int32(0)), kind="input", tensor="x")
    with pytest.raises(ValueError, match="takes x, scale, zero_point"):
        relax.BlockBuilder().normalize(relax.Call(call.op, call.args[:2], call.attrs))


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    a, b = (relax.Var("x", relax.TensorType(shape, "uint8")) for shape in ([2, 3], [2, 4]))
    with pytest.raises(Exception, match="(?i)broadcast"):
        relax.BlockBuilder().normalize(ops.multiply(a, b, a_zero=0, b_zero=0))


def test_products_of_vectors_are_refused() -> None:
    a, b = (relax.Var("x", relax.TensorType(shape, "uint8")) for shape in ([2, 3], [3]))
    with pytest.raises(ValueError, match="tvmq.matmul: takes matrices"):
        relax.BlockBuilder().normalize(ops.matmul(a, b, a_zero=0, b_zero=0))


def test_shapes_of_unknown_size_are_refused() -> None:
    a, b = (relax.Var("x", relax.TensorType(dtype="uint8", ndim=2)) for _ in range(2))
    with pytest.raises(ValueError, match="tvmq.multiply: shapes .* do not broadcast"):
        relax.BlockBuilder().normalize(ops.multiply(a, b, a_zero=0, b_zero=0))


@pytest.mark.parametrize(
    "call", [lambda x: ops.sum(x, axes=[1]), lambda x: ops.sum_pool(x, kernel=[1], strides=[1], padding=[0] * 4)]
)
def test_sums_need_a_shape(call: Callable[[relax.Var], relax.Call]) -> None:
    x = relax.Var("x", relax.TensorType(dtype="uint8", ndim=4))
    with pytest.raises(ValueError, match="the shape of its input is not known"):
        relax.BlockBuilder().normalize(call(x))


def test_a_weight_of_other_channels_is_refused() -> None:
    x, w = (relax.Var("x", relax.TensorType(shape, "int8")) for shape in ([1, 3, 5], [4, 2, 3]))
    named = {"strides": [1], "padding": [0, 0], "output_padding": [0], "dilation": [1]}
    with pytest.raises(ValueError, match="conv_transpose: 3 channels in 1 groups do not fit"):
        relax.BlockBuilder().normalize(ops.conv_transpose(x, w, **named))


@pytest.mark.parametrize(
    ("cache", "update", "indices", "axis"),
    [
        ([2, 4, 3], [2, 5, 3], [2], 1),
        ([2, 4, 3], [2, 1, 2], [2], 1),
        ([2, 4, 3], [2, 1], [2], 1),
        ([2, 4, 3], [1, 4, 3], [2], 0),
        ([2, 4, 3], [2, 1, 3], [2, 1], 1),
    ],
)
def test_entries_that_do_not_fit_a_cache_are_refused(
    cache: list[int], update: list[int], indices: list[int], axis: int
) -> None:
    tensors = [relax.Var("x", relax.TensorType(shape, "int8")) for shape in (cache, update)]
    at = relax.Var("at", relax.TensorType(indices, "int64"))
    with pytest.raises(ValueError, match=rf"tensor_scatter: .* along axis {axis} does not fit \(2, 4, 3\)"):
        relax.BlockBuilder().normalize(ops.tensor_scatter(*tensors, at, axis=axis))


def test_fence_is_the_identity_elsewhere() -> None:
    """Targets without LLVM get the plain value."""
    from tvmq.graph.operators.loops import fence

    value = tvm.tirx.Var("v", "float32") * tvm.tirx.const(2.0, "float32")
    with tvm.target.Target("c"):
        assert fence(value).same_as(value)
    with tvm.target.Target("llvm"):
        assert not fence(value).same_as(value)
