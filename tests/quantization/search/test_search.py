"""`tvmq.search`: what it finds keeps the bound, its recipe makes the same model, and what was known is not measured
again."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.quantization.search.small_search import BOUND, samples, search_unsteady, unsteady_network
from tests.support.models.networks import Net, feeds_of
from tvmq.errors import ArtifactError, ConfigError, DataError, OutputError
from tvmq.quantization.search.journal import Journal
from tvmq.quantization.search.loop import JOURNAL
from tvmq.tools.cli.options import config_from


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return search_unsteady(tmp_path_factory.mktemp("search") / "deeper")


def usual_sqnr(module: Any, mod: Any, params: Any) -> float:
    """The median of samples that the search did not see; the largest ones leave every range that data chose."""
    floats, codes = tvmq.build(mod, params=params), tvmq.build(module)
    pairs = [(floats.run(feed)[0].astype(np.float64), codes.run(feed)[0]) for feed in samples(40, 9)]
    return float(np.median([10 * np.log10((a**2).sum() / ((a - b) ** 2).sum()) for a, b in pairs]))


@pytest.mark.slow
def test_the_best_keeps_the_bound_that_8_bits_miss(found):
    whole = next(point for point in found.points if not point.recipe.layers)
    assert whole.sqnr < BOUND <= found.best.sqnr
    assert found.best.holds and found.best in found.front
    assert found.best.bytes == min(point.bytes for point in found.points if point.holds)


@pytest.mark.slow
def test_the_recipe_makes_the_same_model_and_keeps_the_bound_on_new_samples(found):
    mod, params = tvmq.from_onnx(unsteady_network())
    config = config_from({"config": found.folder / "best.json"})
    module = tvmq.quantize(mod, params, samples(64, 1), config=config, guard=None)
    assert tvmq.build(module).save(found.folder / "again.tvmq")
    assert (
        tvmq.load(found.folder / "again.tvmq").module.script() == tvmq.load(found.folder / "best.tvmq").module.script()
    )
    assert usual_sqnr(module, mod, params) > BOUND - 3


@pytest.mark.slow
def test_the_files_tell_what_was_found(found):
    front = json.loads((found.folder / "front.json").read_text())
    assert [point["name"] for point in front["points"]] == [f"point-{n + 1}" for n in range(len(found.front))]
    best = next(point for point in front["points"] if point["name"] == front["best"])
    assert best["recipe"] == json.loads((found.folder / "best.json").read_text())
    assert best["seconds"] == found.best.seconds and front["float"]["seconds"] == found.floats["seconds"]
    assert (found.folder / "front.svg").read_text().startswith("<svg")
    for point in front["points"]:
        assert json.loads((found.folder / f"{point['name']}.json").read_text()) == point["recipe"]


@pytest.mark.slow
def test_a_second_run_measures_nothing_and_says_the_same(found):
    before = (found.folder / "front.json").read_bytes()
    again = search_unsteady(found.folder)
    assert again.trials == 0 and again.best == found.best and again.points == found.points
    assert (found.folder / "front.json").read_bytes() == before


@pytest.mark.slow
def test_the_front_has_no_point_that_another_one_beats(found):
    for point in found.front:
        assert not any(
            other.loss < point.loss and other.seconds <= point.seconds and other.bytes <= point.bytes
            for other in found.points
        )


@pytest.mark.slow
def test_a_journal_that_was_cut_off_is_carried_on(found, tmp_path):
    """Half of the rows of a whole search: the other half is measured, and the answer is the same."""
    with Journal(found.folder / JOURNAL) as whole:
        rows = whole._rows.execute("SELECT key, result FROM results ORDER BY key").fetchall()
    with Journal(tmp_path / JOURNAL) as half:
        half.add({key: json.loads(result) for key, result in rows[::2]})
    again = search_unsteady(tmp_path)
    assert 0 < again.trials <= len(rows) - len(rows[::2]) and again.best == found.best
    assert (tmp_path / "front.json").read_bytes() == (found.folder / "front.json").read_bytes()


@pytest.mark.slow
def test_the_cheapest_wins_where_it_holds():
    easy = search_unsteady(sqnr=-50.0)
    assert easy.best.holds and easy.best.bytes == min(point.bytes for point in easy.points)
    assert len(easy.points) == 2 == easy.trials


@pytest.mark.slow
def test_nothing_is_best_where_nothing_holds(tmp_path):
    hopeless = search_unsteady(tmp_path, sqnr=200.0, rounds=1)
    assert hopeless.best is None and not (tmp_path / "best.tvmq").exists()
    assert json.loads((tmp_path / "front.json").read_text())["best"] is None


@pytest.mark.slow
def test_a_layer_keeps_what_its_space_allows(found):
    space = tvmq.SearchSpace(options=("int8", "float"), networks=({},), layers={"*": ("float",)})
    floats = search_unsteady(sqnr=100.0, space=space, rounds=1)
    chosen = dict(max(floats.points, key=lambda point: point.sqnr).recipe.layers)
    assert chosen and set(chosen.values()) == {"float"}


@pytest.mark.slow
def test_progress_is_told():
    told: list[Any] = []
    search_unsteady(rounds=0, advance=told.append)
    assert {progress.stage for progress in told} >= {"all in 8 bits", "errors of single layers"}
    assert all(1 <= progress.done <= progress.total for progress in told)


def test_bad_input_gets_one_sentence(tmp_path):
    mod, params = tvmq.from_onnx(unsteady_network())
    with pytest.raises(ConfigError, match="metric= and max_drop= go together. Got metric= alone"):
        tvmq.search(mod, params, samples(4, 1), metric="top1")
    with pytest.raises(ConfigError, match="metric= needs data= and labels="):
        tvmq.search(mod, params, samples(4, 1), metric="top1", max_drop=0.1)
    with pytest.raises(ConfigError, match="minimize must be 'latency' or 'size'. Got 'speed'"):
        tvmq.search(mod, params, samples(4, 1), minimize="speed")
    with pytest.raises(ConfigError, match="max_drop must be a number of at least 0. Got -1"):
        tvmq.search(mod, params, samples(4, 1), metric="top1", max_drop=-1)
    with pytest.raises(ConfigError, match="sqnr must be a finite number of dB"):
        tvmq.search(mod, params, samples(4, 1), sqnr=float("nan"))
    with pytest.raises(DataError, match="search: dataset= is missing"):
        tvmq.search(mod, params)
    with pytest.raises(ConfigError, match="workers must be a number of at least 1. Got 0"):
        tvmq.search(mod, params, samples(4, 1), workers=0)
    rule = tvmq.Rule(lambda layer: True, None)
    with pytest.raises(ConfigError, match="a rule that is a function cannot be kept in a journal"):
        tvmq.search(mod, params, samples(4, 1), config=tvmq.qconfig(rules=[rule]))
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be made"):
        tvmq.search(mod, params, samples(4, 1), output=tmp_path / "file" / "inside")
    (tmp_path / JOURNAL).write_text("this is no database, and long enough to be seen as none")
    with pytest.raises(ArtifactError, match="is no journal of a search"):
        tvmq.search(mod, params, samples(4, 1), output=tmp_path)


@pytest.mark.slow
def test_a_network_that_splits_its_tensors():
    """Results that are tuples have no shape."""
    net = Net((1, 8, 6, 6))
    one, other = net.ops("Split", net.op("Relu", net.conv("x", 8, 8)), outputs=2, axis=1)
    model = net.model(net.conv(net.op("Add", one, other), 4, 4), net.op("Tanh", one))
    mod, params = tvmq.from_onnx(model)
    space = tvmq.SearchSpace(options=("int8", "float"), networks=({},))
    found = tvmq.search(mod, params, feeds_of(model), sqnr=45.0, space=space, rounds=1)
    assert found.best is None or found.best.sqnr >= 45.0
    assert len(found.points) >= 2
