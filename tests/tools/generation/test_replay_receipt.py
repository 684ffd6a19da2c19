"""Receipts: they hold for their model, and each change is found at its position."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.llama_model import formula_weights, write_llama
from tests.tools.cli.conftest import cli as cli  # a fixture
from tests.tools.generation.conftest import TINY
from tvmq.errors import ConfigError, DataError, OutputError
from tvmq.tools.generation.receipt import hash_model

PROMPT = [3, 1, 4, 1, 5, 9, 2]
OPTIONS: dict[str, Any] = {"max_new_tokens": 5, "temperature": 1.0, "top_k": 10, "seed": 5}


@pytest.fixture(scope="module")
def folder(decoder: tvmq.Executable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The saved model, and a receipt of two texts."""
    path = tmp_path_factory.mktemp("receipt")
    decoder.save(path / "m.tvmq")
    tvmq.generate(decoder, [PROMPT, PROMPT[:3]], receipt=path / "receipt.json", **OPTIONS)
    return path


def changed(folder: Path, tmp_path: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    content = json.loads((folder / "receipt.json").read_text())
    change(content)
    (tmp_path / "changed.json").write_text(json.dumps(content))
    return tmp_path / "changed.json"


def flip(hashes: list[str], place: int) -> None:
    hashes[place] = ("1" if hashes[place][0] == "0" else "0") + hashes[place][1:]


def test_a_receipt_holds(decoder: tvmq.Executable, folder: Path) -> None:
    for options in ({}, {"compiled": True}):
        result = tvmq.replay(folder / "receipt.json", decoder, **options)
        assert result.holds and result.positions == 11 + 7 and str(result).startswith("receipt: holds (18 positions")
    assert tvmq.replay(folder / "receipt.json", decoder, positions=[0, 8]).positions == 3  # the second text has 7


def test_chunks_and_batches_give_one_receipt(decoder: tvmq.Executable, folder: Path, tmp_path: Path) -> None:
    tvmq.generate(decoder, [PROMPT, PROMPT[:3]], receipt=tmp_path / "r.json", chunk=2, **OPTIONS)
    assert (tmp_path / "r.json").read_bytes() == (folder / "receipt.json").read_bytes()


TAMPERED = [
    (lambda text: flip(text["logits"], 4), "the logits of position 4 of text 0"),
    (lambda text: flip(text["states"], 9), "the caches of position 9 of text 0"),
    (lambda text: text["prompt"].__setitem__(2, 8), "the caches of position 2 of text 0"),
    (
        lambda text: text["tokens"].__setitem__(1, (text["tokens"][1] + 1) % TINY.words),
        "the token behind of position 7",
    ),
    (
        lambda text: text["tokens"].__setitem__(-1, (text["tokens"][-1] + 1) % TINY.words),
        "the token behind of position 10",
    ),
    (lambda text: text.update(seed=6), "the token behind of position"),
]


@pytest.mark.parametrize(("change", "words"), TAMPERED)
def test_what_was_changed_is_found(
    decoder: tvmq.Executable, folder: Path, tmp_path: Path, change: Any, words: str
) -> None:
    path = changed(folder, tmp_path, lambda content: change(content["texts"][0]))
    result = tvmq.replay(path, decoder, compiled=True)
    assert not result.holds and str(result).startswith(f"receipt: does not hold; the first difference is in {words}")


def test_another_model(folder: Path) -> None:
    mod, params = tvmq.from_onnx(write_llama(TINY, formula_weights(TINY, seed=1)))
    with tvmq.qconfig(activations="dynamic"):
        qmod = tvmq.quantize(mod, params)

    class Other:
        module = qmod
        input_info, output_info = (
            getattr(tvmq.load(folder / "m.tvmq", code=False), n) for n in ("input_info", "output_info")
        )

    with pytest.raises(DataError, match=r"replay: '.*' is of the model [0-9a-f]{16}, this one is [0-9a-f]{16}: other"):
        tvmq.replay(folder / "receipt.json", Other())  # type: ignore[arg-type]


def test_the_hash_of_a_model_is_that_of_its_file(decoder: tvmq.Executable, folder: Path) -> None:
    assert hash_model(tvmq.load(folder / "m.tvmq", code=False).module) == hash_model(decoder.module)


def _text(content: dict[str, Any]) -> dict[str, Any]:
    return content["texts"][0]


WRONG: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda c: c.update(format="receipt"), "is no receipt of this version: its 'format' must be 'tvmq receipt 1'"),
    (lambda c: c.update(model="12"), "'model' must be a sha256"),
    (lambda c: c.update(stop="2"), "'stop' must be a list of tokens, 'max_new_tokens' a whole number"),
    (lambda c: c.update(texts=[]), "'texts' must be a list of at least one text"),
    (lambda c: _text(c).pop("seed"), "text 0 must have prompt, tokens, temperature"),
    (lambda c: _text(c).update(prompt=[]), "text 0: 'prompt' and 'tokens' must be lists of at least one token"),
    (lambda c: _text(c).update(temperature="1"), "text 0: 'temperature' must be a number"),
    (lambda c: _text(c).update(seed=1.5), "text 0: 'seed' and 'top_k' must be whole numbers"),
    (lambda c: _text(c)["logits"].pop(), "text 0: 'logits' must be 11 hashes, one for each token but the last"),
    (lambda c: _text(c)["states"].__setitem__(0, "x"), "text 0: 'states' must be 11 hashes, one for each token"),
    (lambda c: c.update(max_new_tokens=9), "text 0 ends neither at a token of 'stop' nor after 'max_new_tokens'"),
]


@pytest.mark.parametrize(("change", "words"), WRONG)
def test_files_that_are_no_receipts(
    decoder: tvmq.Executable, folder: Path, tmp_path: Path, change: Any, words: str
) -> None:
    path = changed(folder, tmp_path, change)
    with pytest.raises(DataError) as caught:
        tvmq.replay(path, decoder)
    assert str(caught.value).startswith(f"replay: '{path}'") and words in str(caught.value)


def test_files_that_cannot_be_read_or_written(decoder: tvmq.Executable, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("receipt")
    with pytest.raises(DataError, match="replay: '.*text' is no JSON"):
        tvmq.replay(tmp_path / "text", decoder)
    with pytest.raises(DataError, match="replay: '.*none' cannot be read: No such file"):
        tvmq.replay(tmp_path / "none", decoder)
    with pytest.raises(OutputError, match="generate: cannot write the receipt '.*': No such file"):
        tvmq.generate(decoder, [1], max_new_tokens=1, receipt=tmp_path / "no" / "r.json")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2**28 + 1)
    with pytest.raises(DataError, match="replay: '.*large' has more than 256 MB; receipts are small"):
        tvmq.replay(tmp_path / "large", decoder)


def test_positions_that_a_receipt_does_not_have(decoder: tvmq.Executable, folder: Path) -> None:
    for positions in ([11], [-1], []):
        with pytest.raises(ConfigError, match="replay: positions must be among 0 to 10. Got"):
            tvmq.replay(folder / "receipt.json", decoder, positions=positions)


def test_the_command(folder: Path, tmp_path: Path, cli: Any) -> None:
    holds = cli("replay", folder / "receipt.json", "--model", folder / "m.tvmq", "--positions", "0:2,9", "--quiet")
    assert (holds.code, holds.out) == (0, "receipt: holds (5 positions computed again by the NumPy definition)\n")
    path = changed(folder, tmp_path, lambda content: flip(content["texts"][1]["logits"], 5))
    fails = cli("replay", path, "--model", folder / "m.tvmq", "--compiled", "--json", "--quiet")
    first = json.loads(fails.out)["first"]
    assert fails.code == 1 and (first["text"], first["position"], first["what"]) == (1, 5, "logits")
    wrong = cli("replay", path, "--model", folder / "m.tvmq", "--positions", "2-3")
    assert wrong.code == 1 and "replay: positions are numbers and ranges such as 0:8,31. Got '2-3' instead" in wrong.err


def test_logits_are_hashed_as_little_endian_floats(decoder: tvmq.Executable, folder: Path) -> None:
    import hashlib

    state = decoder.new_state()
    (logits,) = decoder.run({"input_ids": np.array([PROMPT])}, state)
    text = json.loads((folder / "receipt.json").read_text())["texts"][0]
    assert text["logits"][3] == hashlib.sha256(logits[0, 3].astype("<f4").tobytes()).hexdigest()
    rows = b"".join(array[0, :, 3].astype(array.dtype.newbyteorder("<")).tobytes() for array in state.arrays.values())
    assert text["states"][3] == hashlib.sha256(rows).hexdigest()
