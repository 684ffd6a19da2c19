"""benchmarks/hard.py: its networks fit their data, its measures, its bounds, and a quick run of all stages."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def scripts() -> Iterator[Any]:
    """Imports a benchmark by name."""
    pytest.importorskip("torch")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        yield importlib.import_module


def test_every_network_takes_what_its_formula_draws(scripts: Any) -> None:
    """Scores of classes beside labels of classes, the same data each time; at least eight networks."""
    import torch

    known = scripts("hard_networks.tasks").builders()
    assert len(known) >= 8
    for name, build in known.items():
        recipe = build()
        (x, labels), (again, _) = (recipe.draw(np.random.default_rng(3), 2) for _ in range(2))
        assert (x.dtype, labels.dtype) == (np.float32, np.int64), name
        np.testing.assert_array_equal(x, again, name)
        with torch.no_grad():
            scores = recipe.module(torch.from_numpy(x))
        assert (len(scores), *scores.shape[2:]) == labels.shape and labels.max() < scores.shape[1], name


def test_spreading_channels_keeps_the_function(scripts: Any) -> None:
    """`finish` changes no bit of the results of the gated network."""
    import torch

    torch.manual_seed(0)
    recipe = scripts("hard_networks.layers").gated_depthwise()
    x = torch.from_numpy(recipe.draw(np.random.default_rng(0), 2)[0])
    with torch.no_grad():
        before = recipe.module(x)
        recipe.finish(recipe.module)
        torch.testing.assert_close(recipe.module(x), before, rtol=1e-6, atol=1e-6)
        weights = recipe.module.blocks[0].expand.weight.abs().amax((1, 2, 3))
    assert float(weights.max() / weights.min()) > 100


def test_heads_by_formula_show_what_they_are_about(scripts: Any) -> None:
    """Boxes in nearly every picture, the scores that the name says; values of lost games in the tests alone."""
    runtime = pytest.importorskip("onnxruntime")
    heads = scripts("hard_networks.heads")
    for name in heads.HEADS:
        task = heads.head_task(name, quick=True)
        session = runtime.InferenceSession(task.model_path)
        run = lambda feed, session=session: session.run(None, feed)  # noqa: E731
        assert task.evaluate(run) == 1.0 == task.evaluate(run), name
        if task.decode is not None:
            assert sum(len(image) > 0 for image in task.right) >= 10, name
            assert task.evaluate(lambda feed, run=run: [0 * y for y in run(feed)]) < 0.2, name
    values = [float(one) for one in np.ravel(task.right)]
    assert name == "value_head" and min(values) < -0.5 < 0.5 < max(values)
    assert all(float(np.ravel(run(feed)[0])[0]) > 0.5 for feed in task.calibration())
    with pytest.raises(SystemExit, match="there are .*one_to_one"):
        scripts("hard_networks.tasks").load(["two_to_one"], Path())


def row(setting: str, **change: Any) -> dict[str, Any]:
    return {
        "name": "net", "setting": setting, "score": 90.0, "difference": 0.0, "error": 0.1, "decibels": 30.0,
        "milliseconds": 2.0 if setting == "float" else 1.0, "differing": 0, "seconds": 1.0, **change,
    }  # fmt: skip


@pytest.mark.parametrize(("change", "words"), [
    ({}, None),
    ({"decibels": 19.9}, "net: 19.9 dB, at least 20 asked"),
    ({"difference": -1.1}, "-1.10 ± 0.10 points, 1 or 2 s.e. allowed"),
    ({"difference": -1.1, "error": 0.6}, None),
    ({"milliseconds": 2.0}, "2.000 ms, float 2.000 ms"),
    ({"differing": 3}, "net, default: 3 values differ"),
])  # fmt: skip
def test_bounds(scripts: Any, change: dict[str, Any], words: str | None) -> None:
    failures = scripts("hard").missed([row("float"), row("default", **change), row("products", decibels=1.0)])
    assert len(failures) == (0 if words is None else 1)
    assert words is None or words in failures[0]


def test_decibels_are_the_mean_of_samples(scripts: Any) -> None:
    """20 and 40 dB make 30, whatever the samples' sizes and the number of outputs; equal ones are 120."""
    scored = scripts("harness.zoo").Scored
    ones = scored(0.0, np.zeros(2), [np.array([[1.0], [100.0]]), np.zeros((2, 3, 1))])
    other = scored(0.0, np.zeros(2), [np.array([[1.1], [101.0]]), np.zeros((2, 3, 1))])
    decibels = scripts("hard").decibels
    assert decibels(ones, other) == pytest.approx((20 + 40) / 2)
    assert decibels(ones, ones) == pytest.approx(120)


def test_unknown_networks_are_named(scripts: Any, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no network stft; there are .*stft_power"):
        scripts("hard_networks.tasks").load(["stft"], tmp_path)


def test_tasks_of_a_folder_stand_beside_ours(scripts: Any, tmp_path: Path) -> None:
    """A folder in the form of the zoo gives its tasks by their names."""
    (tmp_path / "tasks.py").write_text("def tasks(root):\n    return {'theirs': root}\n")
    assert scripts("hard_networks.tasks").load(["theirs"], tmp_path, folder=tmp_path) == {"theirs": str(tmp_path)}


@pytest.mark.slow
def test_quick_form(scripts: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Trained, exported, quantized in every setting, compared and written down."""
    pytest.importorskip("onnxruntime")
    hard: ModuleType = scripts("hard")
    hard.main([
        "--networks", "exponents_and_quotients", "--cache", str(tmp_path), "--json", str(tmp_path / "out.json"), "--quick",
    ])  # fmt: skip
    text = capsys.readouterr().out
    assert re.search(r"\| exponents_and_quotients \| +unguarded \|", text) and "all bounds hold" in text
    assert '"differing": 0' in (tmp_path / "out.json").read_text()
