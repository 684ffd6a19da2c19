"""How many results a sample has: surroundings, what is counted, quality, and the bound."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.support.models.dynamic_models import encoder

NAMES = ["ids", "mask"]


@pytest.fixture
def case(script: Any, tmp_path: Path) -> Any:
    """Four texts of a small encoder."""
    onnx.save(encoder(), tmp_path / "encoder.onnx")
    cases = script("vectors.samples")
    return cases.Case("encoder", tmp_path / "encoder.onnx", [], cases.read_texts([], NAMES, 50, 4))


def own(feed: dict[str, np.ndarray], _threads: int = 1, _level: int = 0) -> np.ndarray:
    """Sums of each text's words."""
    return np.float32((feed["ids"] * feed["mask"]).sum(axis=1, keepdims=True))


def whole(feed: dict[str, np.ndarray], _threads: int, _level: int) -> np.ndarray:
    """Sums of what the padding holds, too."""
    return np.float32(feed["ids"].sum(axis=1, keepdims=True))


def test_results_are_counted(script: Any, case: Any) -> None:
    """A model that adds what is not the sample's own gives several results, one of its own words gives one."""
    count = script("vectors.surroundings").count_results
    found = count(case, own, 4, range(10))
    assert [len(results) for results in found.hashes] == [1] * 4 and len(found.digests) == 1
    assert found.alone[:, 0].tolist() == [int(text["ids"].sum()) for text in case.samples]
    found = count(case, whole, 4, range(10))
    assert max(len(results) for results in found.hashes) > 1 and len(found.digests) > 1


def test_a_run_that_differs_once_is_seen(script: Any, case: Any) -> None:
    """A run at another level of instructions makes a second hash of all samples."""

    def run(feed: dict[str, np.ndarray], _threads: int, level: int) -> np.ndarray:
        return own(feed) + np.float32(level == 2)

    surroundings = script("vectors.surroundings")
    assert len(surroundings.count_results(case, run, 4, range(2), levels=3).digests) == 1
    assert len(surroundings.count_results(case, run, 4, range(3), levels=3).digests) == 2
    assert len(surroundings.count_results(case, run, 4, range(3), levels=2).digests) == 1


def test_batches_are_a_permutation(script: Any) -> None:
    parts = list(script("vectors.surroundings").batches(50, np.random.default_rng(0)))
    assert sorted(np.concatenate(parts)) == list(range(50)) and {len(part) for part in parts} <= set(range(1, 9))


@pytest.mark.parametrize("left", [False, True])
def test_joined_samples_keep_their_values(script: Any, case: Any, left: bool) -> None:
    """Each row has its words in their order where its mask is 1; they begin at 0 unless padding may be on the left."""
    case.__dict__["pads_left"] = left
    begins = set()
    for seed in range(5):
        feed = script("vectors.surroundings").join(case, [2, 0, 3], np.random.default_rng(seed))
        for number, ids, mask in zip([2, 0, 3], feed["ids"], feed["mask"], strict=True):
            np.testing.assert_array_equal(ids[mask == 1], case.samples[number]["ids"][0])
            begins.add(int(np.argmax(mask)))
    assert (begins == {0}) != left


def test_texts_end_at_their_first_zero(script: Any, tmp_path: Path) -> None:
    np.savez(tmp_path / "texts.npz", x=np.uint16([[5, 6, 0, 0], [7, 8, 9, 0]]))
    first, second, *more = script("vectors.samples").read_texts([tmp_path / "texts.npz"], NAMES, 0, 12)
    assert first["ids"].tolist() == [[5, 6]] and second["mask"].tolist() == [[1, 1, 1]]
    assert len(more) == 10 and all(set(text["ids"][0]) <= {5, 6, 7, 8, 9} for text in more)


def test_more_pictures_are_moved_ones(script: Any) -> None:
    pictures = [{"x": np.arange(48, dtype=np.float32).reshape(1, 3, 4, 4)}]
    made = script("vectors.samples").more_pictures(pictures, 5)
    assert len(made) == 5 and all(sorted(one["x"].ravel()) == sorted(made[0]["x"].ravel()) for one in made)


def test_rankings_are_compared(script: Any) -> None:
    quality = script("vectors.quality")
    vectors = np.random.default_rng(0).standard_normal((60, 8))
    assert quality.compare_rankings(vectors, 2 * vectors) == (1, 1)
    np.testing.assert_allclose(quality.cosines(vectors, -2 * vectors), -1)
    first, ten = quality.compare_rankings(vectors, vectors[:, ::-1] ** 3)
    assert first < 1 and ten < 1


def test_an_encoder_is_the_same_in_torch(script: Any, tmp_path: Path) -> None:
    """PyTorch and onnxruntime agree on an encoder that was written as ONNX and read back, padded on both sides."""
    pytest.importorskip("torch")
    bert, random = script("vectors.bert"), np.random.default_rng(0)
    shapes = {"word": (20, 64), "pos": (32, 64), **{f"layers.0.{name}": (64, 64) for name in "qkvo"}}
    shapes |= {"layers.0.fc1": (64, 96), "layers.0.fc2": (96, 64)}
    weights = {f"{name}.weight": np.float32(random.normal(0, 0.1, shape)) for name, shape in shapes.items()}
    weights |= {f"{name}.bias": np.float32(random.normal(size=shape[1])) for name, shape in shapes.items() if "l" in name}
    weights |= {f"{name}.{kind}": np.ones(64, np.float32) for name in ("norm", "layers.0.n1", "layers.0.n2")
                for kind in ("weight", "bias")}  # fmt: skip
    path = tmp_path / "encoder.onnx"
    onnx.save(bert.write_bert(bert.Bert(weights, 1, 2)), path)
    read = bert.read_bert(path)
    assert read is not None and (read.layers, read.heads) == (1, 2)
    ids, mask = random.integers(0, 20, (3, 7)), np.ones((3, 7), np.int64)
    mask[0, :2] = mask[1, 5:] = 0
    feed = {"input_ids": ids, "attention_mask": mask}
    ours = script("vectors.contestants").run_onnxruntime(path)(feed, 1, 0)
    theirs = script("vectors.peers").run_torch(read, int8=False)(feed, 1, 0)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_bound(script: Any) -> None:
    row = {"model": "m", "contestant": "tvmq int8", "samples": 5, "digests": 1}
    table = script("invariance")
    assert not table.missed([row, {**row, "contestant": "onnxruntime int8", "digests": 9}], None)
    assert table.missed([{**row, "digests": 2}], None) == ["m: tvmq int8 gives 5 samples 2 different results"]


def test_a_quick_run_leaves_its_options(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = script("invariance")
    seen: list[Namespace] = []
    monkeypatch.setattr(table, "measure", seen.append)
    options = Namespace(quick=True, samples=100, runs=1, tasks="lstm")
    table.measure_little(options)
    assert (seen[0].samples, seen[0].runs, seen[0].tasks) == (20, 1, "")
    assert (options.samples, options.tasks) == (100, "lstm")


def test_blocks_of_codes_are_expanded(script: Any) -> None:
    """The low halves of the bytes come first, and 8 is taken off each code."""
    block = np.float16(0.5).tobytes() + bytes([0x90, *[0x88] * 15])
    values = script("vectors.e5_small").expand(block)
    assert values[0] == -4 and values[16] == 0.5 and not values[1:16].any() and not values[17:].any()


def test_words_are_split_into_the_most_probable_pieces(script: Any) -> None:
    names = ["<s>", "<pad>", "</s>", "<unk>", "▁a", "b", "▁ab", "c"]
    scores = np.float32([0, 0, 0, 0, -1, -1, -3, -2])
    words = script("vectors.e5_small").Words({name: i for i, name in enumerate(names) if i > 3}, scores)
    assert words.split("ab  abc") == [4, 5, 4, 5, 7]
    assert words.split("a?") == [4, 3]


@pytest.mark.slow
def test_a_saved_model_is_hashed(script: Any, case: Any, tmp_path: Path) -> None:
    """The hash that an emulated CPU is asked for is that of the results here."""
    import tvmq

    emulated, path = script("vectors.other_cpus"), tmp_path / "encoder.tvmq"
    mod, params = tvmq.from_onnx(str(case.model_path))
    executable = tvmq.build(mod, params=params)
    executable.save(path)
    emulated.write_feeds(tmp_path / "feeds.npz", case.samples)
    wanted = emulated.hash_arrays(executable.run(sample)[0] for sample in case.samples)
    assert emulated.run_here(f"{path},{tmp_path / 'feeds.npz'}") == wanted
    assert emulated.hash_arrays([np.zeros(2), np.ones(1)]) != emulated.hash_arrays([np.zeros(2), np.zeros(1)])


def test_unknown_cpus_are_refused(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    emulated = script("vectors.other_cpus")
    with pytest.raises(SystemExit, match="--emulate i486: code is made for Haswell, IvyBridge"):
        emulated.check_cpus(["Haswell", "i486"])
    monkeypatch.setattr(emulated.shutil, "which", lambda _name: None)
    emulated.check_cpus([])
    with pytest.raises(SystemExit, match="install Debian's package qemu-user"):
        emulated.check_cpus(["Haswell"])


def test_texts_of_decoders_are_cut_into_chunks(script: Any) -> None:
    """Every token goes through once, in order; the logits behind the last one are the result."""
    decoders = script("vectors.decoders")
    chunks: list[np.ndarray] = []

    class Text:
        def feed(self, tokens: np.ndarray) -> np.ndarray:
            chunks.append(tokens)
            return np.repeat(tokens[:, :, None], 3, axis=2)

    run = decoders.run_in_chunks(lambda threads, level: lambda batch: Text())
    tokens = np.arange(128).reshape(2, 64)
    for _ in range(2):
        chunks.clear()
        assert run({"input_ids": tokens}, 1, 0).tolist() == [[63] * 3, [127] * 3]
        assert np.array_equal(np.concatenate(chunks, axis=1), tokens) and len(chunks) > 1


@pytest.mark.slow
def test_a_tiny_decoder_has_one_result(script: Any, tmp_path: Path) -> None:
    invariance, decoders = script("invariance"), script("vectors.decoders")
    options = Namespace(
        emulate="", samples=6, peer_samples=6, runs=4, compared=6, rounds=1, emulated_samples=0, decoder="tiny"
    )
    case = decoders.decoder_case("tiny", 6, tmp_path)
    rows = list(invariance.measure_case(case, list(decoders.decoder_contestants("tiny", tmp_path)), options))
    assert [row["contestant"] for row in rows][-1].startswith("tvmq int8") and len(rows) == 3
    assert rows[-1]["digests"] == 1 and rows[-1]["cosine"] > 0.99 and not invariance.missed(rows, options)

