"""Operators of the integer module computed by a user's function: chosen, exact, explained, verified, saved."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, te, tirx
from tvm.relax.dpl import is_const, is_op, wildcard
from tvm.relax.transform import FusionPattern

import tvmq
from tests.codegen.custom_lowering.chip import CONV, conv_codes, conv_defined, network, run, table_in_two_steps
from tests.support.models.networks import Net
from tvmq.errors import BuildError, ConfigError
from tvmq.extension import Match
from tvmq.runtime.artifact.manifest import _LOWERINGS, first_wrong

CONV_LOWERING = tvmq.Lowering(CONV, conv_codes, name="chip_conv", definition=conv_defined)
TABLE = tvmq.Lowering("tvmq.table", table_in_two_steps, name="two_steps")


def built(*lowerings: Any, **options: Any) -> tvmq.Executable:
    return tvmq.build(network()[0], lowerings=list(lowerings), **options)


@pytest.mark.slow
def test_what_lowerings_compute_equals_the_definition():
    mod, feeds = network()
    exe = built(CONV_LOWERING, TABLE)
    np.testing.assert_array_equal(run(exe, feeds), run(tvmq.build(mod), feeds))
    verification = tvmq.verify(exe, feeds)
    assert verification.exact and [check.name for check in verification.lowerings] == ["chip_conv", "two_steps"]
    conv, table = verification.lowerings
    assert (conv.values, conv.differing, conv.misdefined) == (2 * 4 * 4 * 64, 0, 0) and table.misdefined is None
    assert "lowering 'chip_conv' (own function), 2 layers: 2048 values equal" in str(verification)


@pytest.mark.slow
def test_explain_lists_what_was_taken_and_why_the_rest_was_not():
    text = str(tvmq.explain(built(CONV_LOWERING, TABLE)))
    assert "lowering 'chip_conv' (own function) computes /conv_0, /conv_2" in text
    assert re.search(r"does not take '/conv_\d': '/conv_\d' has groups=4, the pattern asks for 1", text)
    assert re.search(r"conv_0, relu_1} .* chip_conv ", text), "the kernel's column"
    assert tvmq.explain(built(TABLE)).to_dict()["lowerings"]["taken"][0]["lowering"] == "two_steps"


@pytest.mark.slow_cases("nn.conv2d -> a*", "tvmq.add*", "tvmq.sof*")
@pytest.mark.parametrize(("pattern", "why"), [
    ("nn.conv2d -> tvmq.requantize", "behind '/conv_0' comes add, the pattern asks for tvmq.requantize"),
    ("nn.conv2d -> add -> nn.relu", "comes tvmq.requantize, the pattern asks for nn.relu"),
    ("nn.conv2d -> add -> tvmq.requantize[mode=fixed_point]", "has mode='float', the pattern asks for 'fixed_point'"),
    ("nn.conv2d -> add -> tvmq.requantize -> tvmq.add", "'/conv_0' is also read by '/conv_2'"),
    ("nn.conv2d[dtype=int16] -> add", "has dtype='int32', the pattern asks for 'int16'"),
    ("add(nn.conv2d(x, const(w), groups=1), const(b))", "has groups=4, the pattern asks for 1"),
    ("tvmq.add -> tvmq.table -> tvmq.softmax", "the pattern asks for tvmq.softmax"),
    ("tvmq.softmax", "takes nothing: the model has no tvmq.softmax"),
])  # fmt: skip
def test_a_miss_is_one_sentence(pattern: str, why: str):
    assert why in str(tvmq.explain(built(tvmq.Lowering(pattern, lambda match: "no such unit", name="n"))))


def test_dataflow_patterns_of_tvm_say_why_they_miss():
    pattern = is_op("relax.add")(is_op("relax.nn.conv2d")(wildcard(), wildcard()).has_attr({"groups": 1}), is_const())
    codes = is_op("relax.tvmq.requantize")(pattern, wildcard(), wildcard())
    exe = built(tvmq.Lowering(("chip.conv", codes), conv_codes))
    assert [entry["lowering"] for entry in exe.lowerings["taken"]] == ["chip.conv"] * 2
    assert "has groups=4, the pattern asks for 1" in str(tvmq.explain(exe))
    two = is_op("relax.tvmq.add")(is_op("relax.nn.relu")(wildcard()), wildcard())
    assert "is tvmq.requantize, the pattern asks for nn.relu" not in str(tvmq.explain(exe))
    assert "takes nothing" in str(tvmq.explain(built(tvmq.Lowering(two, conv_codes))))


def test_annotations_and_checks_of_tvm_s_pattern_tables():
    data, weight = wildcard(), is_const()
    conv = is_op("relax.nn.conv2d")(data, weight)
    codes = is_op("relax.tvmq.requantize")(is_op("relax.add")(conv, is_const()), is_const(), is_const())
    seen: list[Any] = []

    def check(context: Any) -> bool:
        seen.append(context.annotated_expr["weight"])
        return int(context.annotated_expr["conv"].ty.shape[1]) == 4 and context.annotated_expr["weight"].ty.shape[1] == 4

    annotated = {"conv": conv, "weight": weight}
    for pattern in (("chip.conv", codes, annotated, check), FusionPattern("chip.conv", codes, annotated, check)):
        exe = built(tvmq.Lowering(pattern, lambda match: conv_codes(match) if match.captured["weight"] is not None else ""))
        (entry,) = exe.lowerings["taken"]
        assert entry["layers"] == ["/conv_2"] and "the check of its pattern refuses it" in str(tvmq.explain(exe))
    assert len(seen) >= 2


@pytest.mark.slow
def test_what_a_check_or_a_function_refuses_stays_with_tvmq():
    mod, feeds = network()
    few = tvmq.Lowering(CONV, conv_codes, name="few", check=lambda match: "too few channels" if len(match.constants[0][0]) < 4 else True)
    none = tvmq.Lowering(CONV, lambda match: "no such unit", name="none")
    never = tvmq.Lowering("tvmq.table", table_in_two_steps, name="never", check=lambda match: False)
    exe = built(none, few, never)
    text = str(tvmq.explain(exe))
    assert "'none' does not take '/conv_0': no such unit" in text and "'few' does not take '/conv_0': too few channels" in text
    assert "its check= refuses it" in text and [e["layers"] for e in exe.lowerings["taken"]] == [["/conv_2"]]
    np.testing.assert_array_equal(run(exe, feeds), run(tvmq.build(mod), feeds))


@pytest.mark.slow
def test_the_first_lowering_takes_a_layer_from_those_behind_it():
    wide = tvmq.Lowering("tvmq.add -> tvmq.table", lambda match: "", name="wide")
    text = str(tvmq.explain(built(CONV_LOWERING, tvmq.Lowering(CONV, conv_codes, name="second"), TABLE, wide)))
    assert "'second' does not take '/conv_0': lowering 'chip_conv' has taken it" in text
    assert "'wide' does not take" in text and "lowering 'two_steps' has taken" in text


def test_operators_that_others_read_are_not_taken():
    mod, feeds = network()
    exe = built(tvmq.Lowering("nn.conv2d -> add -> tvmq.requantize -> nn.conv2d", lambda match: "never"))
    assert not exe.lowerings["taken"] and "'/conv_0' is read by 2 operators" in str(tvmq.explain(exe))
    np.testing.assert_array_equal(run(exe, feeds), run(tvmq.build(mod), feeds))


@pytest.mark.slow
def test_verify_names_the_lowering_that_differs_and_a_wrong_definition():
    def off_by_one(match: Match) -> Any:
        x, values = match.placeholders()
        return te.compute(x.shape, lambda *at: values[tirx.Cast("int32", x(*at)) ^ 1])

    wrong = tvmq.Lowering("tvmq.table", off_by_one, name="off", definition=lambda match, x, values: values[x])
    feeds = network()[1]
    verification = tvmq.verify(built(CONV_LOWERING, wrong), feeds)
    assert not verification.exact
    conv, table = verification.lowerings
    assert conv.differing == 0 and table.differing > 0 and table.misdefined == 0
    assert re.search(r"lowering 'off' \(own function\), 1 layer: \d+ of 1024 values differ; the first is layer '/", str(table))
    lies = tvmq.Lowering("tvmq.table", table_in_two_steps, name="lies", definition=lambda match, x, values: values[x] * 0)
    (check,) = tvmq.verify(built(lies), feeds).lowerings
    assert check.differing == 0 and check.misdefined == 1024 and "its own definition differs" in str(check)
    assert check.to_dict()["misdefined"] == 1024


@pytest.mark.slow
def test_a_prim_func_of_fixed_shapes_takes_the_layers_that_have_them():
    def double(shape: tuple[int, ...], dtype: str = "uint8") -> Any:
        x, values = te.placeholder(shape, dtype, "x"), te.placeholder((256,), dtype, "values")
        return te.create_prim_func([x, values, te.compute(shape, lambda *i: values[tirx.Cast("int32", x(*i))])])

    feeds = network()[1]
    exe = built(tvmq.Lowering("tvmq.table", double((1, 4, 8, 8))))
    assert tvmq.verify(exe, feeds).exact and len(exe.lowerings["taken"]) == 1
    other = built(tvmq.Lowering("tvmq.table", double((1, 4, 9, 9))))
    assert "its function takes uint8[1, 4, 9, 9] as parameter 0, the layer has uint8[1, 4, 8, 8]" in str(tvmq.explain(other))
    fewer = tvmq.Lowering("tvmq.table", te.create_prim_func([te.placeholder((4,), "uint8", "x")]))
    assert "its function has 1 parameters, the layer 3" in str(tvmq.explain(built(fewer)))


@pytest.mark.slow
def test_constants_that_the_function_packed_itself():
    def transposed(match: Match) -> Any:
        x, _ = match.placeholders()
        table = match.constants[0].reshape(16, 16).T.copy()
        values = te.placeholder((16, 16), str(table.dtype), "packed")
        code = lambda *at: tirx.Cast("int32", x(*at))  # noqa: E731
        y = te.compute(x.shape, lambda *at: values[code(*at) & 15, code(*at) >> 4])
        return te.create_prim_func([x, values, y]), [table]

    assert tvmq.verify(built(tvmq.Lowering("tvmq.table", transposed)), network()[1]).exact


@pytest.mark.parametrize(("function", "message"), [
    (lambda match: 1 / 0, "its function fails: ZeroDivisionError"),
    (lambda match: 3, "its function gave a int; return a PrimFunc, a TE tensor"),
    (lambda match: te.compute((4,), lambda i: tirx.const(0, "uint8")), "not made of match.placeholders()"),
    (lambda match: te.compute((4,), lambda i: match.placeholders()[0][0, 0, 0, i]), "as parameter 2, the layer has"),
    (lambda match: match.call("nn.conv2d"), "its match has no nn.conv2d, it has tvmq.table"),
])  # fmt: skip
def test_a_function_that_is_wrong_is_named(function: Any, message: str):
    with pytest.raises((BuildError, ConfigError), match=re.escape(message)):
        built(tvmq.Lowering("tvmq.table", function))


@pytest.mark.parametrize(("arguments", "message"), [
    ((3, conv_codes), "a pattern is a text such as"),
    (("nn.conv2d -> ", conv_codes), "is no operator; write names joined by"),
    (("nn.conv2d[groups] -> add", conv_codes), "is no attribute; write name=value"),
    (("nn.conv2d? -> add", conv_codes), "cannot be left out"),
    ((wildcard(), conv_codes), "the pattern has no operator"),
    (("add", "not a function"), "to= is a PrimFunc, a function of the match"),
])  # fmt: skip
def test_a_lowering_that_cannot_be_is_refused(arguments: tuple[Any, ...], message: str):
    with pytest.raises(ConfigError, match=re.escape(message)):
        tvmq.Lowering(*arguments)
    with pytest.raises(ConfigError, match="definition= is a function"):
        tvmq.Lowering("add", conv_codes, definition=3)


def test_lists_of_lowerings():
    assert built(f"{__name__}:TABLE").lowerings["taken"][0]["lowering"] == "two_steps"
    with pytest.raises(ConfigError, match="two lowerings are called 'two_steps'"):
        built(TABLE, tvmq.Lowering("add", conv_codes, name="two_steps"))
    with pytest.raises(ConfigError, match="a lowering is a tvmq.Lowering or the"):
        built(3)
    with pytest.raises(ConfigError, match="no lowering at 'tests.support.models.networks:ABSENT'"):
        built("tests.support.models.networks:ABSENT")
    with pytest.raises(ConfigError, match="lowerings and code generators are for CPUs"):
        built(TABLE, target={"kind": "cuda", "arch": "sm_80"})


@pytest.mark.slow
def test_a_backend_brings_its_lowerings():
    chip = tvmq.Backend("chip", lowerings=(TABLE,))
    assert built(backend=chip).lowerings["taken"][0]["lowering"] == "two_steps"
    assert not built().lowerings and "lowering" not in str(tvmq.explain(built()))
    with pytest.raises(ConfigError, match="'lowerings' must be a tuple"):
        tvmq.Backend("chip", lowerings=[TABLE])
    with pytest.raises(ConfigError, match="'lowerings' must be a tuple"):
        tvmq.Backend("chip", lowerings=(3,))


@pytest.mark.slow
def test_a_description_in_json_names_its_lowerings(tmp_path):
    chip = tvmq.Backend("chip", lowerings=(TABLE, f"{__name__}:CONV_LOWERING"))
    text = chip.to_json()
    assert tvmq.Backend.from_json(text).lowerings == (f"{__name__}:CONV_LOWERING",), "objects are left out"
    assert "lowerings" not in tvmq.Backend("plain").to_json()
    path = tmp_path / "chip.json"
    path.write_text(text)
    assert {entry["lowering"] for entry in built(backend=str(path)).lowerings["taken"]} == {"chip_conv"}
    with pytest.raises(ConfigError, match=r"chip.json: lowerings\[0\]: must be the .module:object. of a tvmq.Lowering"):
        tvmq.Backend.from_json('{"name": "chip", "lowerings": ["import os"]}', "chip.json")


@pytest.mark.slow
def test_a_fused_residual_sum_is_taken_whichever_side_it_is():
    def with_sum(match: Match) -> Any:
        codes = conv_codes(Match(match.name, match.layers, dict(list(match.calls.items())[:3]), match.inputs[:1],
                                 match.constants, list(match.calls)[2] and _result(match)))  # fmt: skip
        attrs, other = match.attrs("tvmq.add"), te.placeholder(codes.shape, str(codes.dtype), match.inputs[1].name)
        first = match.call("tvmq.add").args[0].name in match.calls

        def total(*at: Any) -> Any:
            pair = [tirx.Cast("int32", codes(*at)), tirx.Cast("int32", other(*at))]
            a, b = pair if first else pair[::-1]
            value = ((a * attrs.a_multiplier + b * attrs.b_multiplier + attrs.offset) >> attrs.shift) + attrs.zero_point
            return tirx.Cast(attrs.dtype, tirx.min(tirx.max(value, attrs.qmin), attrs.qmax))

        return te.compute(codes.shape, total)

    mod, feeds = network()
    exe = built(tvmq.Lowering(f"{CONV} -> tvmq.add?", with_sum, name="whole", check=lambda match: "tvmq.add" in match.operators))
    (entry,) = exe.lowerings["taken"]
    assert entry["operators"][-1] == "tvmq.add" and len(entry["inputs"]) == 2
    (check,) = tvmq.verify(exe, feeds).lowerings
    assert check.differing == 0 and check.values == 1024


def _result(match: Match) -> Any:
    """A variable of the type of the codes before the sum."""
    name, call = list(match.calls.items())[2]
    return relax.Var(name, call.ty)


@pytest.mark.slow
def test_a_loaded_model_has_its_lowerings(tmp_path):
    feeds = network()[1]
    exe = built(CONV_LOWERING, TABLE)
    exe.save(tmp_path / "m.tvmq")
    loaded = tvmq.load(tmp_path / "m.tvmq")
    np.testing.assert_array_equal(run(loaded, feeds), run(exe, feeds))
    assert loaded.lowerings == exe.lowerings and loaded.lowerings["libraries"] == []
    checks = tvmq.verify(loaded, feeds).lowerings
    assert [check.differing for check in checks] == [0, 0] and checks[0].misdefined is None
    exe.profile(feeds[0], repeat=1)


@pytest.mark.parametrize(("wrong", "where"), [
    ({"taken": 3}, "taken"),
    ({"libraries": [{"file": "x.so", "path": "", "symbols": [1], "convention": "pointers"}]}, "libraries[0].symbols[0]"),
    ({"libraries": [{"file": "x.so", "path": "", "symbols": [], "convention": "fast"}]}, "libraries[0].convention"),
])  # fmt: skip
def test_a_damaged_manifest_is_refused_by_the_entry(wrong: dict[str, Any], where: str):
    entries = {"names": [], "taken": [], "missed": [], "libraries": []}
    assert first_wrong(entries, _LOWERINGS) is None
    found = first_wrong({**entries, **wrong}, _LOWERINGS)
    assert found is not None and found[0] == where


@pytest.mark.slow
@pytest.mark.usefixtures("whole_cpu")
def test_saved_lowerings_run_in_a_fresh_process_with_any_number_of_threads(tmp_path):
    feeds = network()[1]
    exe = built(CONV_LOWERING, TABLE)
    exe.save(tmp_path / "m.tvmq")
    np.savez(tmp_path / "data.npz", wanted=run(exe, feeds), **{str(i): feed["x"] for i, feed in enumerate(feeds)})
    code = f"""
import numpy as np, tvmq
data = np.load({str(tmp_path / "data.npz")!r})
for threads in (1, 2):
    exe = tvmq.load({str(tmp_path / "m.tvmq")!r}, num_threads=threads)
    found = np.concatenate([exe.run({{"x": data[str(i)]}})[0] for i in range({len(feeds)})])
    assert np.array_equal(found, data["wanted"])
assert "tvm" not in __import__("sys").modules
print("equal")
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "equal\n"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_networks(seed: int):
    random = np.random.default_rng(seed)
    mod, feeds = network(int(random.integers(3, 12)), seed)
    for threads in (1, 2):
        exe = tvmq.build(mod, lowerings=[CONV_LOWERING, TABLE], num_threads=threads)
        verification = tvmq.verify(exe, feeds)
        assert verification.exact and not any(check.misdefined for check in verification.lowerings)


@pytest.mark.slow
def test_dynamic_batches_and_four_functions():
    net = Net((2, 3, 6, 6))
    model = net.model(net.dense(net.op("Flatten", net.op("Relu", net.conv(net.inputs[0], 3, 4))), 144, 3))
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "n"

    random = np.random.default_rng(0)
    feeds = [{"x": random.standard_normal((count, 3, 6, 6)).astype(np.float32)} for count in (1, 3)]
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(calibrate_mode="minmax", partition_conversions="enabled"):
        quantized = tvmq.quantize(mod, params, feeds, guard=None)
    exe = tvmq.build(quantized, lowerings=[CONV_LOWERING])
    verification = tvmq.verify(exe, feeds)
    assert verification.exact and verification.lowerings[0].values == 4 * 4 * 36
    assert isinstance(exe.module, tvm.IRModule) and len(exe.functions) == 4


@pytest.mark.slow
def test_common_sizes_and_sizes_that_stay_dynamic():
    net = Net((1, 3, 6, 6))
    made = net.op("Sigmoid", net.op("Relu", net.conv(net.inputs[0], 3, 4)))
    model = net.model(made)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[2].dim_param = "rows"
    del model.graph.value_info[:]
    random = np.random.default_rng(0)
    feeds = [{"x": random.standard_normal((1, 3, rows, 6)).astype(np.float32)} for rows in (6, 9)]
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(calibrate_mode="minmax"):
        quantized = tvmq.quantize(mod, params, feeds, guard=None)
    exe = tvmq.build(quantized, lowerings=[TABLE], sizes={"rows": [9]})
    wanted = tvmq.build(quantized)
    for feed in feeds:
        np.testing.assert_array_equal(exe.run(feed)[0], wanted.run(feed)[0])
    assert tvmq.verify(exe, feeds).exact
