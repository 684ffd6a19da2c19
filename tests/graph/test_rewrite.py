"""Rewriter, View, names and ledger, which every pass uses."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.support.models.networks import assert_same, block, parse, text_of
from tvmq.errors import ModelError, StageError
from tvmq.graph.ledger import Ledger, get_ledger, require_stage, with_ledger
from tvmq.graph.names import UniqueNames, get_names, identifier, merge, with_names
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, const_value, dtype_of, main_function, make_const, op_name, shape_of, used_vars

X = 'x: R.Tensor((2, 3), "float32")'
TWO = text_of(
    'x: R.Tensor((2, 4), "float32")',
    "s = R.split(x, 2, axis=1)\na = s[0]\nb = R.nn.relu(a)\nc = R.add(b, a)\nreturn (c, x)",
    result=' -> R.Tuple(R.Tensor((2, 2), "float32"), R.Tensor((2, 4), "float32"))',
)


def named(mod: tvm.IRModule, **names: tuple[str, ...]) -> tvm.IRModule:
    """The module with source names."""
    result = mod.clone()
    result["main"] = with_names(mod["main"], names)
    return result


def test_view_knows_producers_and_readers() -> None:
    view = View(parse(TWO))
    assert list(view.value) == ["s", "a", "b", "c"] and list(view.params) == ["x"]
    assert view.readers == {"x": ["s"], "s": ["a"], "a": ["b", "c"], "b": ["c"], "c": []}
    assert view.outputs == ["c", "x"] and view.is_output("x") and not view.is_output("b")
    assert (view.only_reader("b"), view.only_reader("a"), view.only_reader("c"), view.only_reader("x")) == (
        "c",
        None,
        None,
        None,
    )
    assert op_name(view.producer(view.var["b"])) == "nn.relu" and view.producer(view.var["x"]) is None
    assert used_vars(view.value["c"]) == ["b", "a"]
    assert view.sources("b") == ("b",)


def test_a_tensor_read_twice_by_one_binding_has_one_reader() -> None:
    view = View(block(X, "a = R.nn.relu(x)\nb = R.add(a, a)"))
    assert view.readers["a"] == ["b"] and view.only_reader("a") == "b"


def test_a_result_has_no_only_reader() -> None:
    """b is read once inside, and returned."""
    text = text_of(
        'x: R.Tensor((2,), "float32")',
        "b = R.nn.relu(x)\nc = R.abs(b)\nreturn (c, b)",
        result=' -> R.Tuple(R.Tensor((2,), "float32"), R.Tensor((2,), "float32"))',
    )
    assert View(parse(text)).only_reader("b") is None


def test_facts_of_tensors() -> None:
    view = View(block(X, "a = R.nn.relu(x)"))
    assert shape_of(view.var["a"]) == (2, 3) and dtype_of(view.var["a"]) == "float32"
    assert op_name(view.var["a"]) == "" and op_name(relax.Tuple([])) == ""


@pytest.mark.parametrize("dtype", ["int64", "float64", "int32", "float32", "bool", "uint8"])
def test_constants_keep_their_type(dtype: str) -> None:
    array = np.asarray([0, 1], dtype)
    assert const_value(make_const(array)).dtype == array.dtype


def test_dynamic_dimensions_are_refused() -> None:
    view = View(block('x: R.Tensor(("n", 3), "float32")', "a = R.nn.relu(x)"))
    with pytest.raises(ModelError, match=r"'a': shape .*n.*3.* is not static; fix it with from_onnx\(..., shape=...\)"):
        shape_of(view.var["a"])


@pytest.mark.slow
def test_a_function_of_other_kind_is_refused() -> None:
    text = """
@I.ir_module
class Module:
    @T.prim_func(private=False)
    def main(a: T.Buffer((1,), "float32")):
        a[0] = T.float32(1)
"""
    with pytest.raises(ModelError, match="'main' is no Relax function; import the model with tvmq.from_onnx"):
        main_function(tvm.script.from_source(text, check_well_formed=False))


def test_two_variables_of_one_name_are_refused() -> None:
    x, first, second = (relax.Var(name, relax.TensorType([2], "float32")) for name in ("x", "a", "a"))
    bindings = [relax.VarBinding(first, relax.op.abs(x)), relax.VarBinding(second, relax.op.negative(first))]
    func = relax.Function([x], relax.SeqExpr([relax.BindingBlock(bindings)], second), second.ty)
    mod = tvm.IRModule({"main": func})
    with pytest.raises(ModelError, match="two variables share one name; pass the module through tvmq's prepare first"):
        View(mod)


def test_rewrite_keeps_what_is_not_visited() -> None:
    mod = named(parse(TWO), s=("/split",), a=("/split",), b=("/relu",), c=("/add",))
    after = rewrite(mod, lambda rewriter, var, value: None)
    tvm.ir.assert_structural_equal(after, mod)
    assert get_names(after["main"]) == get_names(mod["main"])


def test_rewrite_replaces_and_drops_what_nobody_reads() -> None:
    mod = named(block(X, "a = R.abs(x)\nb = R.nn.relu(a)\nc = R.negative(b)"), a=("/a",), b=("/b",), c=("/c",))

    def visit(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        return value.args[0] if op_name(value) == "nn.relu" else None

    after = rewrite(mod, visit)
    assert_same(after, block(X, "a = R.abs(x)\nc = R.negative(a)"))
    assert get_names(after["main"]) == {"a": ("/a",), "c": ("/c",)}


def test_nested_calls_get_variables_and_names_of_their_own() -> None:
    mod = named(block(X, "a = R.abs(x)\nb = R.add(x, a)"), a=("/a",), b=("/b",))

    def visit(_rewriter: Rewriter, _var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        return (
            relax.op.add(relax.op.exp(relax.op.negative(value.args[0])), value.args[1])
            if op_name(value) == "add"
            else None
        )

    after = rewrite(mod, visit)
    assert_same(after, block(X, "a = R.abs(x)\nn = R.negative(x)\ne = R.exp(n)\nb = R.add(e, a)"))
    assert set(get_names(after["main"]).values()) == {("/a",), ("/b",)}
    assert len(get_names(after["main"])) == 4


def test_a_field_of_a_tuple_that_is_written_out_is_the_field() -> None:
    rewriter = Rewriter(block(X, "t = (x, x)\na = t[1]\nb = R.abs(a)"))
    for var, value in rewriter.view.bindings:
        value = rewriter.substitute(value)
        plain = isinstance(value, relax.Tuple | relax.Var)
        rewriter.bind(var, value if plain else rewriter.emit(value, var.name))
    assert_same(rewriter.finish(), block(X, "b = R.abs(x)"))


def test_an_emitted_binding_can_be_replaced() -> None:
    mod = named(block(X, "a = R.abs(x)\nb = R.negative(a)"), a=("/a",), b=("/b",))
    rewriter = Rewriter(mod)
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        new = rewriter.emit(rewriter.substitute(value), var.name)
        rewriter.bind(var, new)
        if var.name == "b":
            source = new if rewriter.value_of(new) is None else rewriter.value_of(new).args[0]
            assert rewriter.old_names(source) == ["a"]
            rewriter.replace(source, relax.op.exp(rewriter.params[0]), ("/b",))
    after = rewriter.finish()
    assert_same(after, block(X, "a = R.exp(x)\nb = R.negative(a)"))
    assert get_names(after["main"])["a"] == ("/a", "/b")
    assert rewriter.value_of(rewriter.params[0]) is None


def test_a_result_that_is_an_expression_is_bound() -> None:
    mod = block(X, "a = R.abs(x)")
    rewriter = Rewriter(mod)
    ((var, _),) = rewriter.view.bindings
    rewriter.bind(var, relax.op.negative(rewriter.params[0]))
    assert_same(rewriter.finish(), block(X, "result = R.negative(x)"))


def test_parameters_can_be_dropped() -> None:
    mod = block(f'{X}, w: R.Tensor((2, 3), "float32")', "a = R.add(x, w)")
    rewriter = Rewriter(mod)
    ((var, value),) = rewriter.view.bindings
    rewriter.bind(rewriter.params[1], make_const(np.ones((2, 3), np.float32)))
    rewriter.bind(var, rewriter.emit(rewriter.substitute(value), var.name))
    after = rewriter.finish(rewriter.params[:1])
    assert [p.name for p in after["main"].params] == ["x"]
    relax.analysis.well_formed(after)


def test_every_binding_has_a_type_afterwards() -> None:
    after = rewrite(parse(TWO), lambda rewriter, var, value: None)
    for var, value in View(after).bindings:
        tvm.ir.assert_structural_equal(value.ty, var.ty)


def test_names_print_and_parse_back() -> None:
    mod = named(block(X, "a = R.abs(x)"), a=('/layer "1"/Ä\\', "second"), b=())
    again = tvm.script.from_source(mod.script(show_meta=True))
    assert get_names(again["main"]) == {"a": ('/layer "1"/Ä\\', "second")}
    assert get_names(block(X, "a = R.abs(x)")["main"]) == {}


@pytest.mark.parametrize(
    "source, expected", [("/a/b.c", "a_b_c"), ("1x", "v_1x"), ("", "v_"), ("///", "v_"), ("ä-b", "ä_b")]
)
def test_identifiers(source: str, expected: str) -> None:
    assert identifier(source) == expected


def test_unique_names() -> None:
    unique = UniqueNames(["x", "x_1"])
    assert [unique(n) for n in ("x", "x_1", "y", "x", "y_1", "y")] == ["x_2", "x_1_1", "y", "x_3", "y_1", "y_2"]
    assert merge(("a", "b"), (), ("b", "c")) == ("a", "b", "c")


def test_ledger_is_kept_in_the_module() -> None:
    mod = block(X, "a = R.abs(x)")
    assert get_ledger(mod) == Ledger()
    ledger = Ledger(
        "annotated",
        {"nbit_weight": 4},
        layers={"a": {"op": "abs", "precision": "float", "why": "rule 'ä'"}},
        notes=["one"],
    )
    after = with_ledger(mod, ledger)
    assert get_ledger(after) == ledger == get_ledger(tvm.script.from_source(after.script(show_meta=True)))
    assert get_ledger(mod) == Ledger(), "the module itself is left alone"
    assert require_stage(after, "x", ("prepared", "annotated")) == ledger


def test_wrong_stages_say_the_order() -> None:
    message = (
        "realize: the module is 'imported', this pass needs 'calibrated' or 'annotated'; "
        "the order is imported -> prepared -> partitioned -> annotated -> calibrated -> realized"
    )
    with pytest.raises(StageError, match=message):
        require_stage(block(X, "a = R.abs(x)"), "realize", ("calibrated", "annotated"))


@pytest.mark.parametrize(
    "change, dtype, columns",
    [
        (relax.op.nn.relu, "float32", 3),
        (lambda x: relax.op.astype(x, "float16"), "float16", 3),
        (lambda x: relax.op.concat([x, x], axis=1), "float32", 6),
    ],
    ids=["the same", "other numbers", "another size"],
)
def test_calls_have_the_types_of_their_new_arguments(change, dtype: str, columns: int) -> None:
    """Types that stay are kept, not inferred once more; others are new."""
    mod = block(X, "a = R.nn.relu(x)\nb = R.negative(a)\nc = R.exp(b)")
    found = rewrite(mod, lambda _rewriter, var, value: change(value) if var.name == "a" else None)
    view = View(found)
    for name in "abc":
        assert (dtype_of(view.var[name]), shape_of(view.var[name])) == (dtype, (2, columns)), name
    relax.analysis.well_formed(found)
    tvm.ir.assert_structural_equal(tvm.script.from_source(found.script(show_meta=True)), found)
