"""`tvmq.build`: modules of every stage, targets of every form, refusals; names of the source in and out."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import tvm
from onnx import helper

import tvmq
from tests.support.models.networks import Net, feeds_of, parse, run_onnx
from tests.support.models.onnx_models import make_model
from tvmq.codegen.target.cpu import missing_features
from tvmq.errors import ConfigError, DataError, ModelError, TargetError

DYNAMIC = """
# from tvm.script import ir as I
# from tvm.script import relax as R
# from tvm.script import tirx as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")) -> R.Tensor(("n", 3), "float32"):
        n = T.int64()
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        return y
"""


def net() -> onnx.ModelProto:
    """A convolution and a head."""
    n = Net((1, 3, 8, 8))
    y = n.op("Relu", n.conv("x", 3, 8))
    return n.model(n.dense(n.op("Flatten", n.op("GlobalAveragePool", y)), 8, 5))


@pytest.fixture(scope="module")
def stages():
    """(ONNX model, feed, {stage: module}, params)."""
    model = net()
    mod, params = tvmq.from_onnx(model)
    feeds = feeds_of(model)
    with tvmq.qconfig(calibrate_mode="minmax"):
        integer = tvmq.quantize(mod, params, feeds, guard=None)
    with tvmq.qconfig(calibrate_mode="minmax", do_simulation=True):
        simulated = tvmq.quantize(mod, params, feeds, guard=None)
    return model, feeds[0], {"float": mod, "simulated": simulated, "integer": integer}, params


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["float", "simulated", "integer"])
def test_modules_of_every_stage(stages, stage):
    model, feed, modules, params = stages
    before = tvm.ir.save_json(modules[stage])
    exe = tvmq.build(modules[stage], params=params if stage == "float" else None)
    (expected,), (found,) = run_onnx(model, feed), exe.run(feed)
    tolerance = 1e-5 if stage == "float" else 0.1 * np.abs(expected).max()
    assert found.shape == expected.shape and np.abs(found - expected).max() <= tolerance
    assert f"; {stage}, " in repr(exe)
    assert tvm.ir.save_json(modules[stage]) == before, "build changed its module"


@pytest.mark.slow_cases(
    "llvm -mcpu=core-avx2", "llvm -mcpu=x86-64", "{'kind': 'llvm', 'mcpu': 'x86-64-v3'}",
    "llvm -mcpu=haswell -mattr=+avx2,+fma",
    "{\"kind\":\"llvm\",\"tag\":\"\",\"keys\":[[]\"cpu\"],\"mcpu\":\"nehalem\"}", "llvm -ke*", "llvm",
)  # fmt: skip
@pytest.mark.parametrize("target", [
    "llvm", None, "llvm -mcpu=core-avx2", "llvm -mcpu=x86-64", {"kind": "llvm", "mcpu": "x86-64-v3"},
    "llvm -mcpu=haswell -mattr=+avx2,+fma", tvm.target.Target({"kind": "llvm", "mcpu": "nehalem"}),
    "llvm -keys=cpu -link-params=0 -mcpu=core-avx2",
], ids=str)  # fmt: skip
def test_targets_of_every_form_give_the_same_integers(stages, target):
    _, feed, modules, _ = stages
    exe = tvmq.build(modules["integer"], target=target)
    if exe.target.arch != "x86":
        pytest.skip("these are names of x86 CPUs")
    if missing_features(exe.target.needs):
        pytest.skip(f"this CPU lacks {', '.join(missing_features(exe.target.needs))}")
    assert np.array_equal(exe.run(feed)[0], tvmq.reference.run(modules["integer"], feed)[0])


@pytest.mark.parametrize("target, message", [
    ("llvm -mtriple=x86_64-linux-gnu -mcpu=haswel", "LLVM knows no CPU 'haswel'; did you mean haswell"),
    ("cuda -arch=sm_8", "no architecture 'sm_8'; did you mean sm_8"), ("lvm", "'lvm' is no target; use 'llvm'"),
    (3, "Got int"),
])  # fmt: skip
def test_targets_that_are_none(stages, target, message):
    with pytest.raises(TargetError, match=message):
        tvmq.build(stages[2]["integer"], target=target)


def test_weights_without_values(stages):
    """Both build and quantize refuse them in one sentence."""
    _, feed, modules, params = stages
    message = r"4 weights have no values, first '.*'; give the params that from_onnx .*build\(mod, params="
    with pytest.raises(ModelError, match=message):
        tvmq.build(modules["float"])
    with pytest.raises(ModelError, match=message):
        tvmq.quantize(modules["float"], None, [feed], guard=None)
    first, *_ = params
    with pytest.raises(ModelError, match=f"1 weights have no values, first '{first}'"):
        tvmq.build(modules["float"], params={name: value for name, value in params.items() if name != first})


def test_params_that_do_not_belong_to_the_module(stages):
    _, _, modules, params = stages
    with pytest.raises(ModelError, match="params name 'more', which is no parameter of the module"):
        tvmq.build(modules["float"], params={**params, "more": np.zeros(3)})


def test_sizes_become_numbers():
    exe = tvmq.build(parse(DYNAMIC), sizes={"n": 2})
    assert exe.input_info[0].shape == (2, 3)
    with pytest.raises(DataError, match=r"shape \(3, 3\), the model takes \(2, 3\)"):
        exe.run({"x": np.zeros((3, 3), np.float32)})


@pytest.mark.parametrize("sizes, message", [
    ({"m": 2}, "sizes: 'm' is no dynamic dimension of the model; they are n"),
    ({"n": 0}, "sizes: 'n' must be an integer of at least 1. Got 0 instead"),
    ({"n": 2.5}, "sizes: 'n' must be an integer of at least 1. Got 2.5 instead"),
])  # fmt: skip
def test_sizes_that_are_refused(sizes, message):
    with pytest.raises(ConfigError, match=message):
        tvmq.build(parse(DYNAMIC), sizes=sizes)


def test_sizes_of_a_model_without_dynamic_dimensions():
    with pytest.raises(ConfigError, match="'n' is no dynamic dimension of the model; there are none"):
        tvmq.build(tvmq.build(parse(DYNAMIC), sizes={"n": 2}).module, sizes={"n": 2})


def test_results_that_are_no_tensors():
    text = DYNAMIC.replace('("n", 3)', "(4, 3)").replace("        n = T.int64()\n", "")
    text = text.replace('-> R.Tensor((4, 3), "float32")', "").replace("return y", "return (y, R.shape([2]))")
    with pytest.raises(ModelError, match="build: a result is .*, no tensor and no tuple of them; return"):
        tvmq.build(parse(text))


def dotted() -> onnx.ModelProto:
    """A model with names that are no Python identifiers."""
    random = np.random.default_rng(0)
    weight = random.normal(size=(4, 3, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["input.1", "w.0"], ["y:0"], name="conv 1", pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["y:0", "1"], ["out/1"], name="+"),
    ]
    return make_model(nodes, {"input.1": [1, 3, 6, 6], "1": [1, 4, 6, 6]}, ["out/1"], {"w.0": weight}, 17)


@pytest.mark.slow
def test_inputs_and_outputs_keep_the_names_of_the_source(tmp_path):
    """Names are kept by quantize, run, verify, the reference, and in a saved model."""
    model = dotted()
    mod, params = tvmq.from_onnx(model)
    feeds = feeds_of(model)
    integer = tvmq.quantize(mod, params, feeds, guard=None)
    exe = tvmq.build(integer)
    assert [info.name for info in exe.input_info] == ["input.1", "1"]
    assert [info.name for info in exe.output_info] == ["out/1"]
    assert tvmq.verify(exe, feeds).exact
    assert np.array_equal(exe.run(feeds[0])[0], tvmq.reference.run(integer, feeds[0])[0])
    exe.save(tmp_path / "m.tvmq")
    assert np.array_equal(tvmq.load(tmp_path / "m.tvmq").run(feeds[0])[0], exe.run(feeds[0])[0])
    with pytest.raises(DataError, match=r"no input 'input_1', it takes .*; did you mean 'input.1'"):
        exe.run({"input_1": feeds[0]["input.1"], "1": feeds[0]["1"]})
    with pytest.raises(DataError, match="input 'input.1' is missing"):
        tvmq.quantize(mod, params, [{"input_1": feeds[0]["input.1"], "1": feeds[0]["1"]}], guard=None)
    with pytest.raises(DataError, match="input 'input.1' is missing"):
        tvmq.reference.run(integer, {"1": feeds[0]["1"]})
