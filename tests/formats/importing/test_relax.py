"""from_relax: plain Relax modules in the form of the other front ends."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from frontend_models import normal_floats
from tvm import relax
from tvm.relax.frontend import nn
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

import tvmq
from tvmq.errors import ModelError, UnsupportedOpError
from tvmq.formats.relax import from_relax
from tvmq.graph.names import get_names

floats = normal_floats(0)


class Net(nn.Module):
    """Convolution, relu, product."""

    def __init__(self) -> None:
        self.conv = nn.Conv2D(3, 8, 3, padding=1)
        self.fc = nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        x = nn.op.relu(self.conv(x))
        return self.fc(nn.op.permute_dims(x, [0, 2, 3, 1]))


@pytest.fixture(scope="module")
def net() -> Any:
    """An exported nn.Module with weights, and the same weights by parameter."""
    model = Net()
    for _, parameter in model.named_parameters():
        parameter.data = floats(*(int(size) for size in parameter.shape))
    return model.export_tvm(spec={"forward": {"x": nn.spec.Tensor([1, 3, 8, 8], "float32")}})


@I.ir_module
class Scattered:
    """Several blocks, bindings outside of dataflow, nested calls, an alias, a tuple, a shape, a call_tir."""

    @T.prim_func(private=True, s_tir=True)
    def double(x: T.Buffer((T.int64(2), T.int64(12)), "float32"), y: T.Buffer((T.int64(2), T.int64(12)), "float32")):
        for i, j in T.grid(T.int64(2), T.int64(12)):
            with T.sblock("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * T.float32(2)

    @R.function
    def forward(
        w: R.Tensor((4, 12), "float32"), x: R.Tensor((2, 3, 4), "float32"), lambda_: R.Tensor((2, 12), "float32")
    ):
        cls = Scattered
        with R.dataflow():
            lv = R.nn.relu(R.exp(x))
            flat = R.reshape(lv, R.shape([2, 12]))
            R.output(flat)
        gv = flat
        lv1 = R.call_tir(cls.double, (gv,), out_ty=R.Tensor((2, 12), "float32"))
        lv2 = R.add(lv1, lambda_)
        with R.dataflow():
            scores = R.matmul(lv2, R.permute_dims(w))
            lv3 = R.nn.relu(scores)
            both = (lv3, x)
            R.output(both)
        return both


def variables(mod: tvm.IRModule) -> list[str]:
    (block,) = mod["main"].body.blocks
    assert isinstance(block, relax.DataflowBlock)
    return [binding.var.name for binding in block.bindings]


@pytest.mark.slow
def test_exported_module_is_quantized_exactly(net: Any) -> None:
    mod, params = net
    data = [floats(1, 3, 8, 8) for _ in range(4)]
    qmod = tvmq.quantize(mod, params, data, guard=None)  # comes through from_relax by itself
    result = tvmq.verify(tvmq.build(qmod), data)
    assert result.exact and not result.islands
    assert tvmq.explain(qmod).int8_share() == 1.0


def test_unnamed_layers_are_counted(net: Any) -> None:
    mod, params = from_relax(*net)
    assert variables(mod) == [
        "conv2d_0", "reshape_0", "conv2d", "relu", "permute_dims", "permute_dims1", "matmul", "add",
    ]  # fmt: skip
    assert list(params) == ["conv_weight", "conv_bias", "fc_weight", "fc_bias"]
    names = {variable: layer for variable, (layer,) in get_names(mod["main"]).items()}
    assert names["relu"] == "relu"
    assert [variable for variable in names if names[variable] == "conv"] == ["conv2d_0", "reshape_0", "conv2d"]
    assert [variable for variable in names if names[variable] == "fc"] == ["permute_dims1", "matmul", "add"]


@pytest.mark.slow
def test_scattered_function_becomes_one_block() -> None:
    w, x, shift = floats(4, 12), floats(2, 3, 4), floats(2, 12)
    mod, params = from_relax(Scattered, {"w": w})
    func = mod["main"]
    assert variables(mod) == [
        "exp_0", "relu_0", "flat", "call_tir_0", "add_0", "permute_dims_0", "scores", "relu_1", "x_1",
    ]  # fmt: skip
    assert [p.name for p in func.params] == ["x", "lambda_", "w"] and list(params) == ["w"]
    assert int(func.attrs["num_input"]) == 2
    assert json.loads(func.attrs["tvmq.inputs"]) == ["x", "lambda_"]
    assert json.loads(func.attrs["tvmq.outputs"]) == ["output_0", "x"]
    parsed = tvm.script.from_source(mod.script(show_meta=True))
    assert tvm_ffi.structural_equal(parsed, mod)
    expected = np.maximum((np.exp(x).reshape(2, 12) * 2 + shift) @ w.T, 0)
    result, copy = tvmq.build(mod, params=params).run({"x": x, "lambda_": shift})
    np.testing.assert_allclose(result, expected, rtol=1e-5)
    np.testing.assert_array_equal(copy, x)
    data = [{"x": floats(2, 3, 4), "lambda_": floats(2, 12)} for _ in range(3)]
    qmod = tvmq.quantize(Scattered, {"w": w}, data, guard=None)
    checked = tvmq.verify(tvmq.build(qmod), data)
    assert checked.exact and "call_tir 'call_tir_0'" in checked.islands


@pytest.mark.slow
def test_weights_may_be_constants_and_our_own_modules_stay() -> None:
    builder, x = relax.BlockBuilder(), relax.Var("x", relax.TensorType((2, 8), "float32"))
    weight = floats(8, 4)
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(relax.op.matmul(x, relax.const(weight))))
    mod, params = from_relax(builder.get())
    assert params == {} and variables(mod) == ["matmul_0"]
    again, same = from_relax(mod, {"a": weight})
    assert again is mod and same["a"] is weight
    data = [floats(2, 8) for _ in range(3)]
    assert tvmq.verify(tvmq.build(tvmq.quantize(builder.get(), None, data, guard=None)), data).exact


@pytest.mark.slow
def test_weights_in_an_attribute_are_found() -> None:
    torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
    from tvm.relax.frontend.torch import from_exported_program

    program = torch.export.export(torch.nn.Linear(4, 3), (torch.zeros(2, 4),))
    mod, params = from_relax(from_exported_program(program, keep_params_as_input=True))
    assert list(params) == ["p_weight", "p_bias"] and int(mod["main"].attrs["num_input"]) == 1


@pytest.mark.slow
def test_static_match_cast_is_an_alias() -> None:
    @I.ir_module
    class Cast:
        @R.function
        def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            e = R.exp(x)
            y = R.match_cast(e, R.Tensor((2, 3), "float32"))
            return R.abs(y)

    assert variables(from_relax(Cast)[0]) == ["e", "abs_0"]


@I.ir_module
class Calls:
    @R.function
    def helper(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.exp(x)

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        y = Calls.helper(x)
        return y


@I.ir_module
class Branches:
    @R.function
    def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((2,), "float32"):
        if c:
            y = R.exp(x)
        else:
            y = R.abs(x)
        return y


@I.ir_module
class External:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.call_dps_packed("fast_exp", (x,), out_ty=R.Tensor((2,), "float32"))
        return y


@I.ir_module
class Unknown:
    @R.function
    def main(x: R.Tensor("float32", ndim=1)) -> R.Tensor("float32", ndim=1):
        return R.exp(x)


@I.ir_module
class Measures:
    @R.function
    def main(x: R.Tensor((5,), "float32")):
        m = T.int64()
        y = R.match_cast(R.unique(x, sorted=True), R.Tensor((m,), "float32"))
        return R.exp(y)


@I.ir_module
class Nested:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return (x, (x, x))


REFUSED = {
    "calls": (Calls, r"'y': it calls the function 'helper'; inline it"),
    "branches": (Branches, "'y': control flow is not supported; keep one branch"),
    "external": (External, "'y': it calls an external function; write it with Relax operators"),
    "unknown": (Unknown, "input 'x' is .* not a tensor of known rank"),
    "measures": (Measures, "'y': a match-cast gives its shape only at run time"),
    "nested": (Nested, "a result is .* not a tensor; return one tensor or one tuple"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_straight_line_is_refused_by_name(name: str) -> None:
    mod, words = REFUSED[name]
    with pytest.raises(UnsupportedOpError, match=f"from_relax, {words}" if words[0] == "'" else f"from_relax: {words}"):
        from_relax(mod)


def test_wrong_functions_and_weights_are_refused(net: Any) -> None:
    mod, params = net

    def refused(words: str, *args: Any, **options: Any) -> None:
        with pytest.raises(ModelError, match=words):
            from_relax(*args, **options)

    refused("there is no function 'other'; the module has 'forward'; choose one with function=", mod, function="other")
    refused("there is no 'main' to choose by default; the module has none", tvm.IRModule())
    refused("4 weights have no values, the first is 'conv.weight'", mod)
    refused("params name 'fc.wait', which is not a parameter", mod, {"fc.wait": floats(1)})
    wrong = {name: floats(1) for name, _ in params}
    refused(r"weight 'conv.weight' has shape \(1,\), but the function takes \(8, 3, 3, 3\)", mod, wrong)
    empty = Net().export_tvm(spec={"forward": {"x": nn.spec.Tensor([1, 3, 8, 8], "float32")}})
    refused("weight 'conv.weight' has no value; load the weights", *empty)


def test_a_pair_is_no_module() -> None:
    """The pair that from_onnx returns is refused as one argument."""
    with pytest.raises(ModelError, match=r"must be a tvm.IRModule. Got tuple instead; .*mod, params = from_onnx"):
        tvmq.quantize((tvm.IRModule(), {}))  # type: ignore[arg-type]
