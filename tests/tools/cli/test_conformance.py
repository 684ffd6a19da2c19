"""`tvmq conformance`, and `tvmq verify` and `tvmq compare` beside chips and dumps."""

import json

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.chips.emulation.read_vectors import read_vectors
from tvmq.numerics.requantize_rule import RequantizeRule

SMALL = tvmq.Backend("small", families=frozenset({"add", "multiply", "table"}), activations=("int8",), floats=False,
                     requantize=("fixed_point",))  # fmt: skip


@pytest.fixture
def saved(tmp_path):
    """chip.json, net.tvmq, samples.npz."""
    (tmp_path / "chip.json").write_text(SMALL.to_json())
    net = Net((1, 3))
    model = net.model(net.dense(net.op("Relu", net.dense("x", 3, 4)), 4, 2))
    samples = np.concatenate([feed["x"] for feed in feeds_of(model)])
    np.savez(tmp_path / "samples.npz", x=samples)
    mod, params = tvmq.from_onnx(model)
    qmod = tvmq.quantize(mod, params, [{"x": row[None]} for row in samples], guard=None)
    tvmq.build(qmod).save(tmp_path / "net.tvmq")
    seen = {}
    tvmq.reference.run(qmod, {"x": samples[:1]}, watch=seen.__setitem__)
    (tmp_path / "dumps").mkdir()
    for name, value in seen.items():
        if value.dtype == np.uint8:
            np.save(tmp_path / "dumps" / f"{name}.npy", value)
    return tmp_path


def test_vectors_and_answers(cli, saved):
    written = cli("conformance", saved / "chip.json", "-o", saved / "vectors", "--json", "-q")
    assert written.code == 0, written.err
    facts = json.loads(written.out)
    assert set(facts["cases"]) == {"requantize", "multiply", "add", "table"}
    chips, cases = read_vectors(saved / "vectors")
    np.savez(saved / "right.npz", **{f"{case.operator}/{case.name}": wanted for case, wanted in cases})
    right = cli("conformance", saved / "vectors", "--check", saved / "right.npz", "-q")
    assert right.code == 0 and right.out.splitlines()[-1].strip().startswith("conforms: yes (0 of"), right.err
    tables = [case for case, _ in cases if case.operator == "table"]
    wrong = {f"table/{case.name}": case.compute(chips["table"], "unsigned_index").y for case in tables}
    np.savez(saved / "wrong.npz", **wrong)
    judged = cli("conformance", saved / "vectors", "--check", saved / "wrong.npz", "-q")
    assert judged.code == 1 and "table: explained by it looks up codes as unsigned bytes" in judged.out
    assert not json.loads(cli("conformance", saved / "vectors", "--check", saved / "wrong.npz", "--json").out)["conforms"]


@pytest.mark.slow
def test_one_of_output_and_check(cli, saved):
    result = cli("conformance", saved / "chip.json")
    assert result.code == 1 and "give --output to write vectors, or --check to judge answers" in result.err


@pytest.mark.slow
def test_a_model_on_a_chip(cli, saved):
    command = ("--data", saved / "samples.npz", "-q")
    equal = cli("verify", saved / "net.tvmq", *command, "--backend", "cpu")
    assert equal.code == 0 and "equal: yes (" in equal.out
    floor = tvmq.Backend("floor", requantize_rule=RequantizeRule(roundings=("floor",)))
    (saved / "floor.json").write_text(floor.to_json())
    for name in ("verify", "compare"):
        unequal = cli(name, saved / "net.tvmq", *command, "--backend", saved / "floor.json")
        assert unequal.code == 1 and "the first layer is" in unequal.out
        assert json.loads(cli(name, saved / "net.tvmq", *command, "--json", "--backend", saved / "floor.json").out)["first"]


@pytest.mark.slow
def test_dumps(cli, saved):
    command = ("compare", saved / "net.tvmq", "--data", saved / "samples.npz", "--samples", 1, "-q", "--dumps")
    assert cli(*command, saved / "dumps").code == 0
    file = sorted((saved / "dumps").iterdir())[0]
    np.save(file, np.load(file) ^ 1)
    unequal = cli(*command, saved / "dumps")
    assert unequal.code == 1 and "by themselves differ" in unequal.out


@pytest.mark.slow
def test_what_compare_needs(cli, saved):
    data = ("--data", saved / "samples.npz")
    one = cli("compare", saved / "net.tvmq", *data)
    assert one.code == 1 and "give two models, or one model with --backend or --dumps" in one.err
    three = cli("compare", saved / "net.tvmq", saved / "net.tvmq", *data, "--backend", "cpu")
    assert three.code == 1 and "replace the second model" in three.err
