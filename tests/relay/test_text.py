"""Relay's text format: the parser, the printer, and that each is the other's inverse."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tvmq
from tvmq import relay
from tvmq.errors import ConfigError, ModelError, UnsupportedOpError
from tvmq.relay.expr import Call, Function, Tuple, const, var
from tvmq.relay.module import IRModule
from tvmq.relay.op import nn
from tvmq.relay.text import parser
from tvmq.relay.text.grammar import read_number
from tvmq.relay.text.metadata import read_metadata, read_record, write_metadata, write_record
from tvmq.relay.text.printer import astext, scalar_text
from tvmq.relay.text.reader import parse, parse_expr

HEADER = '#[version = "0.0.5"]\n'


@pytest.fixture(autouse=True)
def _lark() -> None:
    pytest.importorskip("lark", reason='relay.parse needs lark: pip install "tvmq[relay]"')


def main(body: str, params: str = "%x: Tensor[(2, 3), float32]") -> str:
    return f"{HEADER}def @main({params}) {{\n{body}\n}}\n"


def run(mod: IRModule, *arrays: np.ndarray) -> np.ndarray:
    return relay.create_executor("graph", mod).evaluate()(*arrays).numpy()


def body_of(text: str, params: str = "%x: Tensor[(2, 3), float32]") -> Call:
    return parse(main(text, params))["main"].body


X = np.arange(6, dtype="float32").reshape(2, 3)


@pytest.mark.parametrize("text, value, dtype", [
    ("12", 12, "int32"), ("-12", -12, "int32"), ("--10", 10, "int32"), ("---10", -10, "int32"),
    ("2147483648", 2**31, "int64"), ("-2147483648", -(2**31), "int32"), ("12i64", 12, "int64"), ("12i16", 12, "int16"),
    ("7i8", 7, "int8"), ("200u8", 200, "uint8"), ("1f", 1.0, "float32"), ("1.5f", 1.5, "float32"),
    ("1e-05f", 1e-5, "float32"), ("2E+3f", 2e3, "float32"), ("1f64", 1.0, "float64"), ("0.5f16", 0.5, "float16"),
    ("inff", np.inf, "float32"), ("-inff", -np.inf, "float32"),
])  # fmt: skip
def test_numbers(text, value, dtype):
    found = read_number(text)
    assert (found.value, found.dtype) == (value, dtype)
    node = parse_expr(text)
    assert str(node.checked_type.dtype) == dtype
    assert node.data.numpy() == np.asarray(value, dtype)


@pytest.mark.parametrize("text, reason", [
    ("1.0", "1.0f"), ("300i8", "does not fit into int8"), ("1f8", "8 bits"), ("-1u8", "does not fit into uint8"),
])  # fmt: skip
def test_numbers_that_are_none(text, reason):
    with pytest.raises(ModelError, match=reason):
        parse_expr(text)


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64", "float16", "float32", "float64"])
def test_scalars_survive_to_the_last_bit(dtype):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 256, (50, np.dtype(dtype).itemsize), "uint8").view(dtype).ravel()
    for value in values[np.isfinite(values)]:
        back = read_number(scalar_text(np.asarray(value, dtype)))
        assert back.dtype == dtype or (dtype == "int32" and back.dtype == "int64")
        assert np.asarray(back.value, dtype) == value


def test_operators_bind_as_in_relay():
    value = run(parse(main("(%x + %x * 2f - 1f) / 2f")), X)
    np.testing.assert_array_equal(value, (X + X * np.float32(2) - np.float32(1)) / np.float32(2))
    body = body_of("%x * 2f < %x + 1f == True", "%x: float32")
    assert body.op.name == "equal" and body.args[0].op.name == "less"
    assert body_of("%x - %x - %x").args[0].op.name == "subtract", "operators are left-associative"


def test_bindings_are_shared_nodes():
    body = body_of("%0 = exp(%x); let %y: Tensor[(2, 3), float32] = %0; add(%y, %0)")
    assert body.args[0] is body.args[1]


def test_the_later_definition_of_a_number_wins_and_functions_have_their_own():
    mod = parse(
        f"{HEADER}def @f(%a: Tensor[(2, 3), float32]) {{ %0 = exp(%a); %0 }}\n"
        "def @main(%x: Tensor[(2, 3), float32]) { %0 = %x + 1f; %0 = %0 * 2f; %1 = @f(%x); %0 - %0 }"
    )
    np.testing.assert_array_equal(run(mod, X), np.zeros_like(X))
    assert mod["f"].body.op.name == "exp"


def test_functions_are_taken_over():
    mod = parse(
        f"{HEADER}def @twice(%a: Tensor[(2, 3), float32]) {{ %a + %a }}\n"
        "def @main(%x: Tensor[(2, 3), float32]) {\n"
        '  %0 = fn (%p0: Tensor[(2, 3), float32], Primitive=1, hash="a//b") { negative(%p0) };\n'
        "  %1 = @twice(%x);\n  %0(%1)\n}"
    )
    np.testing.assert_array_equal(run(mod, X), -(X + X))


def test_recursion_is_refused():
    with pytest.raises(UnsupportedOpError, match="@main calls itself"):
        parse(main("@main(%x)"))


def test_tuples_and_projections():
    mod = parse(main("%0 = (%x, %x + 1f,); %1 = split(%x, indices_or_sections=3, axis=1); %0.1 + %0.0 * %1.2"))
    np.testing.assert_array_equal(run(mod, X), (X + 1) + X * X[:, 2:])
    body = body_of("(%x, exp(%x)).1")
    assert body.op.name == "exp"


def test_names_with_dots_are_told_from_projections():
    params = "%layer1.0.weight: Tensor[(2, 3), float32], %aten::linear_0.bias: Tensor[(3), float32], %0.w: float32"
    mod = parse(main("%0 = (%layer1.0.weight, %aten::linear_0.bias); (%0.0 + %0.1) * %0.w", params))
    assert [p.name_hint for p in mod["main"].params] == ["layer1.0.weight", "aten::linear_0.bias", "0.w"]
    bias = np.ones(3, "float32")
    np.testing.assert_array_equal(run(mod, X, bias, np.float32(2)), (X + bias) * 2)


def test_comments_nest_and_texts_hide_them():
    mod = parse(f'{HEADER}// a /* b\n/* c /* d */ "e" */ def @main(%x: float32 /* ty=float32 */) {{ exp(%x) /* f */ }}')
    assert mod["main"].body.op.name == "exp"


@pytest.mark.parametrize("text, reason", [
    (HEADER + "def @main(%x: float32) { exp(%y) }", r"line 2: %y is not defined"),
    (HEADER + "def @main(%x: float32) { exp(%x ", r"line 2, .*the text ends too early"),
    (HEADER + "def @main(%x: float32) { exp(%x 1f) }", r"line 2, column \d+: '1f' is not expected"),
    (HEADER + "def @main(%x: float32) { @f(%x) }", "there is no function @f"),
    (HEADER + "def @main() { 1f }\ndef @main() { 2f }", "@main is defined twice"),
    (HEADER + "/* def", "has no end"),
    ("def @main() { 1f }", r"must begin with #\[version"),
    ('#[version = "0.0.4"]\ndef @main() { 1f }', "Got version 0.0.4"),
    (HEADER + "def @main() { meta[relay.Constant][2] }", r"meta\[relay.Constant\]\[2\] is missing"),
    (HEADER + "def @main(%x: float32) { exp }", r"exp stands alone"),
    (HEADER + "def @main(%x: Tensor[(2, 3), float32]) { clip(%x, low=1f) }", "line 2: .*no attribute 'low'"),
    (HEADER + "def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(4), float32]) { %x + %y }", "@main: "),
    (HEADER + "def @main() { 1f }\n#[metadata]\n{}", "metadata section cannot be read"),
])  # fmt: skip
def test_what_cannot_be_read_is_named(text, reason):
    with pytest.raises(ModelError, match=reason):
        parse(text)


@pytest.mark.parametrize("text, reason", [
    ("if (less(%x, 1f)) { %x } else { exp(%x) }", "'if' has no counterpart.*where"),
    ("match (%x) { }", "algebraic data types"),
    ("nn.no_such_op(%x)", "nn.no_such_op"),
])  # fmt: skip
def test_what_relax_lacks_is_refused(text, reason):
    with pytest.raises(ModelError, match=reason):
        parse(main(text, "%x: float32"))


def test_without_lark_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "lark", None)
    with pytest.raises(ConfigError, match=r"tvmq\[relay\]"):
        parser.parse_text(main("%x"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float16", "float32", "float64", "bool"])
def test_records(dtype):
    array = np.random.default_rng(1).integers(0, 2, (2, 3, 1)).astype(dtype)
    back = read_record(write_record(array))
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_a_record_is_what_tvm_writes():
    """The record of save_param_dict is behind two lengths and the name."""
    array = np.arange(6, dtype="int16").reshape(2, 3)
    assert bytes(relay.save_param_dict({"w": array})).endswith(write_record(array))


@pytest.mark.parametrize("damage", [slice(0, 10), slice(0, 40), slice(0, -1)])
def test_damaged_records_are_refused(damage):
    graph = json.loads(write_metadata([X]))
    import base64

    data = base64.b64decode(graph["b64ndarrays"][0])[damage]
    graph["b64ndarrays"] = [base64.b64encode(data).decode()]
    with pytest.raises(ModelError, match="metadata section cannot be read"):
        read_metadata(json.dumps(graph))


def test_attributes_among_the_metadata():
    """Calls with attributes of a foreign kind have them in the metadata, as texts or numbers."""
    table = {"relay.attrs.ClipAttrs": [{"type_key": "relay.attrs.ClipAttrs", "a_min": 1.0, "a_max": 2.0}]}
    text = main("clip(%x, meta[relay.attrs.ClipAttrs][0])")
    np.testing.assert_array_equal(run(parse(text, init_meta_table=table), X), np.clip(X, 1, 2))


def network() -> IRModule:
    rng = np.random.default_rng(2)
    data = var("data.0", shape=(1, 3, 8, 8))
    body = nn.conv2d(data, const(rng.normal(size=(4, 3, 3, 3))), padding=1, channels=4, kernel_size=3, strides=(2, 1))
    body = nn.relu(nn.bias_add(body, const(rng.normal(size=4)))) * const(0.1)
    other = relay.clip(body.astype("int32"), -3, 5).astype("float32")
    return IRModule.from_expr(Function([data], Tuple([relay.concatenate([body, other], axis=1), body])))


@pytest.mark.slow
def test_what_is_written_reads_back_to_the_same_text_and_values():
    mod = network()
    text = astext(mod)
    back = parse(text)
    assert astext(back) == text
    data = np.random.default_rng(3).normal(size=(1, 3, 8, 8)).astype("float32")
    executors = [relay.create_executor("graph", m).evaluate() for m in (mod, back)]
    for one, other in zip(*(execute(data) for execute in executors), strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_a_front_ends_module_goes_through_the_text():
    """The embedded example: squeeze-and-excite, depthwise layers, batch norms; weights in the metadata section."""
    model = Path(tvmq.__file__).parent / "demo" / "digits.onnx"
    mod, _ = relay.frontend.from_onnx(model, {"image": (1, 1, 16, 16)})
    back = parse(mod.astext())
    assert back.astext() == mod.astext(), "constants included"
    assert len([line for line in mod.astext(False).splitlines() if "nn.conv2d(" in line]) > 5


def test_the_text_is_relays():
    text = astext(network(), show_meta_data=False)
    assert (
        text
        == """#[version = "0.0.5"]
def @main(%data.0: Tensor[(1, 3, 8, 8), float32]) -> (Tensor[(1, 8, 4, 8), float32], Tensor[(1, 4, 4, 8), float32]) {
  %0 = nn.conv2d(%data.0, meta[relay.Constant][0], strides=[2, 1], padding=[1, 1, 1, 1], channels=4, \
kernel_size=[3, 3]) /* ty=Tensor[(1, 4, 4, 8), float32] */;
  %1 = nn.bias_add(%0, meta[relay.Constant][1]) /* ty=Tensor[(1, 4, 4, 8), float32] */;
  %2 = nn.relu(%1) /* ty=Tensor[(1, 4, 4, 8), float32] */;
  %3 = multiply(%2, 0.1f) /* ty=Tensor[(1, 4, 4, 8), float32] */;
  %4 = cast(%3, dtype="int32") /* ty=Tensor[(1, 4, 4, 8), int32] */;
  %5 = clip(%4, a_min=-3f, a_max=5f) /* ty=Tensor[(1, 4, 4, 8), int32] */;
  %6 = cast(%5, dtype="float32") /* ty=Tensor[(1, 4, 4, 8), float32] */;
  %7 = (%3, %6);
  %8 = concatenate(%7, axis=1) /* ty=Tensor[(1, 8, 4, 8), float32] */;
  (%8, %3)
}
"""
    )


def test_batch_matmul_has_the_default_of_the_text():
    params = "%x: Tensor[(1, 2, 3), float32], %y: Tensor[(1, 3, 4), float32]"
    assert tuple(body_of("nn.batch_matmul(%x, %y)", params).checked_type.shape) == (1, 2, 4)
    x, y = var("x", shape=(1, 2, 3)), var("y", shape=(1, 4, 3))
    assert "transpose_b=True" in astext(nn.batch_matmul(x, y))


def test_variables_of_one_name_are_told_apart():
    mod = IRModule.from_expr(var("data", shape=(2,)) * var("data", shape=(2,)) + var("3", shape=(2,)))
    text = astext(mod)
    assert "(%data: Tensor[(2), float32], %data_1: Tensor[(2), float32], %v3: Tensor[(2), float32])" in text
    assert astext(parse(text)) == text
