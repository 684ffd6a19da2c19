"""`tvmq inspect` on real files, in this process."""

import json

import onnx
import pytest

import tvmq
from tests.support.models.networks import Net
from tvmq.graph.ledger import get_ledger
from tvmq.passes.partition import partition
from tvmq.passes.prepare import prepare


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A small network with a dynamic batch."""
    net = Net((1, 8, 16, 16))
    model = net.model(net.conv(net.op("Relu", net.conv("x", 8, 32)), 32, 8))
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    del model.graph.value_info[:]
    path = tmp_path_factory.mktemp("inspect") / "model.onnx"
    onnx.save(model, path)
    return path


def test_table_and_verdict(cli, model):
    result = cli("inspect", model, "--target", "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4", "--clock", 3.7)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].split()[:3] == ["layer", "operator", "int8"]
    assert any("/conv_2" in line and "yes" in line for line in lines)
    assert "for znver4 (avx512vbmi) at 3.7 GHz, 1 thread" in result.out and "times as fast" in lines[-1]
    assert "inspect ..." in result.err


@pytest.mark.slow
def test_json_and_shapes(cli, model):
    common = ("inspect", model, "--target", "x86-64-v3", "--clock", 3, "--json", "--quiet")
    one, many = (json.loads(cli(*common, "--batch", batch).out) for batch in (1, 8))
    assert one["instruction_set"] == "avx2" and 4 < many["int8_seconds"] / one["int8_seconds"] < 10
    assert json.loads(cli(*common, "--shape", "x=8,8,16,16").out) == many


def test_names_are_listed_as_rules_take_them(cli, model):
    lines = cli("inspect", model, "--names", "--quiet").out.splitlines()
    named = json.loads(cli("inspect", model, "--names", "--json", "--quiet").out)["layers"]
    assert [line.split()[-1] for line in lines] == [layer["operator"] for layer in named] and len(lines) == 2
    mod, params = tvmq.from_onnx(model)
    for layer in named:
        decided = explained(mod, params, layer["name"])
        assert f"rule {layer['name']!r}" in decided.values()


def explained(mod, params, name):
    """{layer: who decided} where this name is a rule."""
    prepared = prepare(mod, params)
    config = tvmq.qconfig(rules=[tvmq.Rule(name, None)])
    return {key: entry["why"] for key, entry in get_ledger(partition(prepared, config)).layers.items()}


def test_mistakes_are_sentences(cli, model):
    assert "is no CPU" in cli("inspect", model, "--target", "cuda").err
    assert "LLVM knows no CPU 'zen'" in cli("inspect", model, "--target", "llvm -mcpu=zen").err
    assert cli("inspect", model.with_name("absent.onnx")).code == 1


@pytest.mark.parametrize(("dims", "says"), [(("batch", 8, 16, 16), ""), ((1, 8, "rows", "columns"), "forecast for 64 as ")])
def test_the_sizes_of_the_forecast_are_said(cli, tmp_path, dims, says):
    net = Net((1, 8, 16, 16))
    model = net.model(net.op("Relu", net.conv("x", 8, 32)))
    for dim, size in zip(model.graph.input[0].type.tensor_type.shape.dim, dims, strict=True):
        dim.Clear()
        setattr(dim, "dim_param" if isinstance(size, str) else "dim_value", size)
    del model.graph.value_info[:]
    for dim in model.graph.output[0].type.tensor_type.shape.dim:
        dim.Clear()
    onnx.save(model, tmp_path / "m.onnx")
    result = cli("inspect", tmp_path / "m.onnx", "--target", "x86-64-v3", "--clock", 3)
    assert result.code == 0, result.err
    assert ("forecast for" in result.err) == bool(says) and says in result.err
    if says:
        assert "dynamic dimensions fixed" not in result.err and "of 'x'" in result.err and "(--shape chooses others)" in result.err
