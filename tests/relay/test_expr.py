"""Nodes of Relay: the attributes that scripts read, and the ways to build, walk and rewrite them."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tvmq import relay
from tvmq.errors import ModelError, UnsupportedOpError


def network() -> relay.Call:
    data = relay.var("data", shape=(1, 3, 8, 8))
    conv = relay.nn.conv2d(data, relay.var("w"), channels=4, kernel_size=(3, 3), padding=1)
    act = relay.nn.relu(relay.nn.bias_add(conv, relay.var("b")))
    return act + act


def run(expr: relay.Expr, **inputs: np.ndarray) -> np.ndarray:
    return tvmq.build(relay.IRModule.from_expr(expr).relax).run(inputs)[0]


def test_calls_answer():
    call = network().args[0].args[0].args[0]
    assert call.op.name == "nn.conv2d" and call.op == relay.op.get("nn.conv2d")
    assert call.attrs.kernel_size == (3, 3) and call.attrs["groups"] == 1 and call.attrs.padding == (1, 1, 1, 1)
    assert call.checked_type == relay.TensorType((1, 4, 8, 8), "float32")
    assert call.args[1].name_hint == "w" and call.args[1].checked_type.concrete_shape == (4, 3, 3, 3)
    with pytest.raises(AttributeError, match="cannot be changed"):
        call.attrs.groups = 2


def test_shared_nodes_are_one_binding():
    func = relay.IRModule.from_expr(network()).relax["main"]
    names = [str(b.value.op.name) for block in func.body.blocks for b in block.bindings]
    assert names == ["relax.nn.conv2d", "relax.reshape", "relax.add", "relax.nn.relu", "relax.add"]


def test_values_that_nothing_reads_are_left_out():
    x = relay.var("x", shape=(1, 4, 2, 2))
    parts = relay.split(x, 2, axis=1)
    func = relay.Function([x, relay.var("unused", shape=(1,))], relay.Tuple([relay.nn.dropout(x), parts[0]])).relax
    names = [b.value.op.name for block in func.body.blocks for b in block.bindings if isinstance(b.value, relax.Call)]
    assert names == ["relax.split"] and len(func.params) == 2


def test_a_node_may_stand_in_two_functions():
    body = network()
    first, second = relay.IRModule.from_expr(body), relay.IRModule.from_expr(relay.nn.relu(body))
    both = tvm.IRModule({"main": first.relax["main"], "s": second.relax["main"].with_attr("global_symbol", "s")})
    assert relax.analysis.check_well_formed(both)


@pytest.mark.parametrize("broken, error, said", [
    (lambda x: x + 1, TypeError, 'convert "1" with `const` first'),
    (lambda x: 2.0 * x, TypeError, "with `const` first"),
    (lambda x: relay.var("w", "int32", shape=(2,)), ValueError, "either type_annotation or shape"),
    (lambda x: relay.const("text"), ValueError, "scalar or NDArray"),
    (lambda x: (x + relay.var("w")).checked_type, ModelError, "variable 'w': it has no type"),
    (lambda x: relay.nn.conv2d(x, relay.var("w", shape=(4, 5, 3, 3))).checked_type, ModelError, r"relay, nn.conv2d of Tensor\[\(1, 3"),
    (lambda x: relay.nn.conv2d(x, relay.var("w", shape=(4, 3, 3, 3)), channels=8).checked_type, ModelError, "channels=8"),
    (lambda x: relay.nn.conv2d(x, x, padding=(1, 2, 3)), ModelError, "give 1, 2 or 4 numbers"),
    (lambda x: relay.concatenate([], 1), ValueError, "at least one"),
    (lambda x: relay.concatenate([x], axis=None), ValueError, "only support integer axis"),
    (lambda x: relay.split(x, 2, 1)[2], IndexError, "result 2 of 2"),
    (lambda x: relay.reshape(x, x), UnsupportedOpError, "found at run time"),
    (lambda x: relay.Call(relay.op.get("nn.relu"), [x], {"axis": 1}), ModelError, "no attribute 'axis'"),
    (lambda x: relay.Call(relay.op.get("cast"), [x]), ModelError, "attribute 'dtype' is missing"),
    (lambda x: relay.Function([x], x).value, UnsupportedOpError, "no value of a straight-line model"),
    (lambda x: relay.TensorType((relay.Any(), 2)).concrete_shape, ModelError, "dynamic dimensions"),
])  # fmt: skip
def test_what_is_refused(broken, error, said):
    with pytest.raises(error, match=said):
        broken(relay.var("x", shape=(1, 3, 8, 8)))


def test_constants_are_narrowed_as_relay_did():
    given = [1, 1.5, True, [1.5, 2.5], np.arange(3), np.float64(2)]
    assert [relay.const(v).checked_type.dtype for v in given] == [
        "int32", "float32", "bool", "float32", "int32", "float32",
    ]  # fmt: skip
    assert relay.Constant(np.ones(2)).checked_type.dtype == "float64"
    assert relay.const(np.ones(2), "int8").data.numpy().dtype == "int8"


def test_functions_are_called_by_taking_them_over():
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    twice = relay.Function([x], x + x)
    np.testing.assert_array_equal(run(twice(twice(y)), y=np.ones(2, "float32")), [4, 4])


def test_let_is_what_it_binds():
    x, t = relay.var("x", shape=(2,)), relay.var("t")
    body = relay.Let(t, x + x, t * t)
    assert relay.analysis.free_vars(body) == [x]
    np.testing.assert_array_equal(run(body, x=np.ones(2, "float32")), [4, 4])


@pytest.mark.slow
def test_deep_graphs_need_no_deep_stack():
    x = relay.var("x", shape=(1,))
    y: relay.Expr = x
    for _ in range(3000):
        y = relay.nn.relu(y)
    assert relay.analysis.list_op_freqs(y) == {"nn.relu": 3000}
    assert relay.bind(y, {x: relay.const([1.0])}).checked_type.shape == (1,)


def test_mutators_rebuild():
    class Widened(relay.ExprMutator):
        def visit_call(self, call):
            call = super().visit_call(call)
            return relay.nn.leaky_relu(call.args[0], 0.5) if call.op.name == "nn.relu" else call

    out = Widened().visit(network())
    assert relay.analysis.list_op_freqs(out) == {"nn.conv2d": 1, "nn.bias_add": 1, "nn.leaky_relu": 1, "add": 1}
    assert out.args[0] is out.args[1]


def test_analysis_counts():
    out = network()
    assert [v.name_hint for v in relay.analysis.all_vars(out)] == ["data", "w", "b"]
    assert relay.analysis.get_total_mac_number(out) == 4 * 64 * 27
    assert relay.analysis.all_dtypes(out) == {"float32"} and relay.analysis.well_formed(out)
    taken = relay.analysis.extract_intermdeiate_expr(relay.IRModule.from_expr(out), 0)
    assert taken["main"].body.op.name == "nn.conv2d"


def test_modules_show_relays_functions():
    mod = relay.IRModule.from_expr(network())
    func = mod["main"]
    mod["main"] = relay.Function(func.params, relay.nn.softmax(func.body))
    assert mod["main"].body.op.name == "nn.softmax"
    assert isinstance(mod.relax["main"], relax.Function)


@pytest.mark.slow
def test_relax_functions_are_seen_and_rebuilt():
    mod = relay.transform.InferType()(relay.IRModule.from_expr(network()))
    seen = relay.analysis.as_expr(mod)
    assert [p.name_hint for p in seen.params] == ["data", "w", "b"]
    assert relay.analysis.list_op_freqs(seen) == {"nn.conv2d": 1, "reshape": 1, "add": 2, "nn.relu": 1}
    convs: list[relay.Call] = []
    relay.analysis.post_order_visit(
        seen, lambda n: convs.append(n) if getattr(n, "op", None) == relay.op.get("nn.conv2d") else None
    )
    assert convs[0].attrs.kernel_size == (3, 3) and convs[0].args[0].name_hint == "data"
    inputs = {
        name: np.random.default_rng(1).normal(size=shape).astype("float32")
        for name, shape in (("data", (1, 3, 8, 8)), ("w", (4, 3, 3, 3)), ("b", (4,)))
    }
    again = relay.Function(seen.params, relay.bind(seen.body, {}) * relay.const(2.0))
    np.testing.assert_array_equal(run(again, **inputs), run(network(), **inputs) * 2)


@pytest.mark.slow
def test_passes_keep_results():
    x = relay.var("x", shape=(1, 4, 2, 2))
    ones = relay.const(np.ones(4, "float32"))
    norm = relay.nn.batch_norm(x, ones, ones, ones, ones)[0]
    steps = [relay.transform.SimplifyInference(), relay.transform.FoldConstant(), relay.transform.DeadCodeElimination()]
    with relay.transform.PassContext(opt_level=3):
        mod = relay.transform.Sequential(steps)(relay.IRModule.from_expr(norm))
    assert "nn.batch_norm" not in relay.analysis.list_op_freqs(mod)


def test_passes_refuse_what_they_lack():
    with pytest.raises(UnsupportedOpError, match="fskip"):
        relay.transform.EliminateCommonSubexpr(fskip=bool)
    with pytest.raises(UnsupportedOpError, match="bfloat16"):
        relay.transform.ToMixedPrecision("bfloat16")


def test_scopes_need_a_result_and_have_no_branches():
    with pytest.raises(ModelError, match="call ret"):
        relay.ScopeBuilder().get()
    with pytest.raises(UnsupportedOpError, match="no control flow"):
        relay.ScopeBuilder().if_scope(relay.const(True))
