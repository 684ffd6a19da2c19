"""`tvmq quantize` refuses to save a model that its guard does not pass: exit code 3, one sentence, --force."""

import json

import numpy as np
import onnx
import pytest

from tests.support.models.guarded_networks import healthy, samples, small_variance


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models with data; the labels are those of no model."""
    path = tmp_path_factory.mktemp("refusal")
    for make in (small_variance, healthy):
        model = make()
        onnx.save(model, path / f"{make.__name__}.onnx")
        x = np.concatenate([feed["x"] for feed in samples(model)])
        np.savez(path / f"{make.__name__}.npz", x=x, labels=np.arange(len(x)) % 2)
    return path


def arguments(folder, name, *more):
    files = (folder / f"{name}.onnx", "--data", folder / f"{name}.npz", "-o", folder / f"{name}.tvmq")
    return ("quantize", *files, "--no-bench", "--no-compare", "--json", "--quiet", *more)


@pytest.mark.slow
def test_a_broken_model_is_refused_and_saved_by_force_alone(folder, cli):
    few = arguments(folder, "small_variance", "--nbit-weight", 3)
    refused = cli(*few)
    assert refused.code == 3 and not (folder / "small_variance.tvmq").exists()
    assert refused.err.startswith("tvmq: quantize: int8 keeps ") and refused.err.count("\n") == 1
    assert "the guard asks for sqnr >= 20; to blame: " in refused.err and "choices of more precision" in refused.err
    assert refused.err.endswith("nothing was saved; --force saves the model anyway\n")
    with pytest.warns(UserWarning, match="the guard asks for"):
        assert cli(*few, "--force").code == 0
    assert (folder / "small_variance.tvmq").exists()
    assert cli(*few, "--guard", "none").code == 0


@pytest.mark.slow
def test_a_mended_model_is_saved_and_its_ledger_tells(folder, cli):
    result = cli(*arguments(folder, "small_variance"))
    assert result.code == 0, result.err
    assert any(note.startswith("guard: so: ") for note in json.loads(result.out)["notes"])


@pytest.mark.slow
def test_a_metric_with_a_drop(folder, cli):
    held = arguments(folder, "healthy", "--metric", "top1", "--max-drop", 100)
    assert cli(*held).code == 0
    alone = cli(*arguments(folder, "healthy", "--max-drop", 1))
    assert alone.code == 1 and "--max-drop: there is no metric whose drop it could bound" in alone.err
    wrong = cli(*arguments(folder, "healthy", "--guard", "snr > 1"))
    assert wrong.code == 1 and "write 'sqnr >= 20'" in wrong.err
