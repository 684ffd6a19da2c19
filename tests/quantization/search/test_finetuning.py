"""Finetuning as a stage of a search: its effect on the best model, reproducibility, refusals.

python -m tests.quantization.search.test_finetuning FOLDER WORKERS       searches
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvmq  # noqa: E402
from tests.training.small_network import QUICKLY, samples, small_network  # noqa: E402
from tvmq.errors import ArtifactError, ConfigError  # noqa: E402
from tvmq.quantization.search.finetuning import check_repeated  # noqa: E402
from tvmq.quantization.search.space import Recipe  # noqa: E402
from tvmq.training import Distill  # noqa: E402

BOUND = 20.0  # dB
TRAINING = Distill(steps=100, batch=16, learning_rate=0.02)


def one_by_one(pictures: np.ndarray) -> list[dict[str, np.ndarray]]:
    return [{"x": picture[None]} for picture in pictures]


def search_small(output: Path | None = None, finetune: Any = TRAINING, **options: Any) -> Any:
    """Weights of 4 bits miss the bound until they are trained."""
    space = tvmq.SearchSpace(options=("int8", "weights4"), networks=({},))
    wanted = {
        "data": one_by_one(samples(32, seed=3)), "sqnr": BOUND, "space": space, "rounds": 1, "minimize": "size",
        "config": tvmq.QConfig(**{**QUICKLY, "nbit_weight": 8}), "measure": False, "output": output,
    }  # fmt: skip
    model = tvmq.from_onnx(small_network())
    return tvmq.search(*model, one_by_one(samples(54)), finetune=finetune, **{**wanted, **options})


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return search_small(tmp_path_factory.mktemp("search"))


@pytest.mark.slow
def test_the_best_is_a_cheaper_model_that_was_trained(found: Any) -> None:
    before = next(point for point in found.points if point.recipe == Recipe(found.best.recipe.layers))
    assert before.sqnr < BOUND <= found.best.sqnr and before.bytes == found.best.bytes
    assert found.best.recipe.finetuned == repr(TRAINING) and "finetuned" in (found.folder / "front.json").read_text()
    assert Recipe.from_json(found.best.recipe.to_json()) == found.best.recipe


@pytest.mark.slow
def test_the_file_is_what_training_by_hand_gives(found: Any) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        model = tvmq.from_onnx(small_network())
        config = found.recipe_config(found.best)
        module = tvmq.quantize(*model, one_by_one(samples(54)), config=config, finetune=TRAINING, guard=None)
    finally:
        torch.set_num_threads(threads)
    x = {"x": samples(8, seed=5)}
    np.testing.assert_array_equal(tvmq.load(found.folder / "best.tvmq").run(x)[0], tvmq.build(module).run(x)[0])


@pytest.mark.slow
def test_a_second_run_measures_nothing(found: Any) -> None:
    before = {path.name: path.read_bytes() for path in found.folder.iterdir() if path.suffix != ".sqlite"}
    again = search_small(found.folder)
    assert again.trials == 0 and again.best == found.best
    assert {path.name: path.read_bytes() for path in found.folder.iterdir() if path.suffix != ".sqlite"} == before


@pytest.mark.slow
def test_two_workers_give_the_same_files(found: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.quantization.search.test_finetuning", str(tmp_path), "2"]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[3])
    names = {path.name for path in found.folder.iterdir() if path.suffix != ".sqlite"}
    assert "best.tvmq" in names
    for name in names:
        assert (tmp_path / name).read_bytes() == (found.folder / name).read_bytes(), name


def test_what_is_refused() -> None:
    for finetune, sentence in (
        (Distill(seconds=3.0), "finetune= must count steps, seconds depend on the machine"),
        (Distill(), "finetune= must count steps"),
        ({"steps": 3}, "finetune must be a tvmq.training.Distill. Got dict"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            search_small(finetune=finetune)


@pytest.mark.slow
def test_other_integers_than_were_judged(found: Any) -> None:
    module = tvmq.load(found.folder / "best.tvmq").module
    with pytest.raises(ArtifactError, match="gave other integers than those that were judged"):
        check_repeated(module, {"module": "0" * 64})


if __name__ == "__main__":
    search_small(Path(sys.argv[1]), workers=int(sys.argv[2]))
