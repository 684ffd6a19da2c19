"""Texts as samples: files, inputs by their names, the model's own tokenizer, and what a model keeps of it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.support.sounds_and_texts import LetterTokenizer
from tvmq.calibration.data.texts import (
    TextPreprocessing,
    encode_texts,
    pad_id_of,
    read_texts,
    read_tokenizer,
    text_inputs_of,
)
from tvmq.errors import ArtifactError, DataError

ROLES = {"input_ids": "ids", "attention_mask": "mask"}


@pytest.fixture
def letters(monkeypatch):
    monkeypatch.setattr("tvmq.calibration.data.texts.read_tokenizer", lambda path: (f"hash of {path}", LetterTokenizer()))


def test_texts_become_words_with_their_mask(letters):
    arrays, prepare = encode_texts(["abc", "d"], ROLES, None, "t.json")
    np.testing.assert_array_equal(arrays["input_ids"], [[97, 98, 99], [100, 7, 7]])
    np.testing.assert_array_equal(arrays["attention_mask"], [[1, 1, 1], [1, 0, 0]])
    assert prepare.length == 3 and arrays["input_ids"].dtype == np.int64
    np.testing.assert_array_equal(prepare(["abcdef"])["input_ids"], [[97, 98, 99]])
    fixed, _ = encode_texts(["abc"], {"x": "ids", "t": "types"}, 5, "t.json")
    np.testing.assert_array_equal(fixed["x"], [[97, 98, 99, 7, 7]])
    np.testing.assert_array_equal(fixed["t"], np.zeros((1, 5)))


def test_a_model_keeps_which_tokenizer_it_was(letters):
    _, prepare = encode_texts(["abc"], ROLES, 4, "t.json")
    kept = TextPreprocessing.from_json(prepare.to_json())
    assert kept == TextPreprocessing(ROLES, 4, "hash of t.json")
    with pytest.raises(DataError, match="the tokenizer is not there; call with_tokenizer"):
        kept(["abc"])
    assert kept.with_tokenizer("t.json")(["abc"])["input_ids"].tolist() == [[97, 98, 99, 7]]
    with pytest.raises(DataError, match="'other.json' is another tokenizer than the model was quantized with"):
        kept.with_tokenizer("other.json")


def test_files_of_texts(tmp_path):
    (tmp_path / "a.txt").write_text("how are you\n\nfine\n")
    assert read_texts(tmp_path / "a.txt") == (["how are you", "fine"], None)
    (tmp_path / "a.csv").write_text('label,text\n1,"yes, of course"\n0,no\n')
    texts, labels = read_texts(tmp_path / "a.csv")
    assert texts == ["yes, of course", "no"] and labels is not None and labels.tolist() == [1, 0]
    (tmp_path / "b.csv").write_text("text\nyes\n")
    assert read_texts(tmp_path / "b.csv") == (["yes"], None)


@pytest.mark.parametrize(("name", "content", "message"), [
    ("a.txt", b"\n \n", "holds no text; write one in each line"), ("a.txt", b"\xff\xfe", "cannot be read as texts"),
    ("a.csv", b"words\nyes\n", "has no column 'text'"), ("a.csv", b"", "has no column 'text'"),
    ("a.csv", b"text,label\nyes,good\n", "has a label that is no number of a class"),
])  # fmt: skip
def test_what_is_no_text(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_texts(tmp_path / name)


def test_inputs_by_their_names():
    shapes = {"input_ids": (None, None), "attention_mask": (None, 64), "token_type_ids": (None, 64)}
    types = dict.fromkeys(shapes, "int64")
    roles, length = text_inputs_of(shapes, types)
    assert roles == {"input_ids": "ids", "attention_mask": "mask", "token_type_ids": "types"} and length == 64


@pytest.mark.parametrize(("shapes", "dtype"), [
    ({"x": (1, 3, 8)}, "int64"), ({"x": (1, 8)}, "float32"), ({"x": None}, "int64"), ({"mask": (1, 8)}, "int64"),
    ({"a": (1, 8), "b": (1, 8)}, "int64"),
])  # fmt: skip
def test_models_of_other_inputs(shapes, dtype):
    with pytest.raises(DataError, match="texts suit a model with inputs of integers"):
        text_inputs_of(shapes, dict.fromkeys(shapes, dtype))


@pytest.mark.parametrize("change", [{"inputs": {"x": "what"}}, {"inputs": 3}, {"length": 0}, {"length": "4"}])
def test_what_is_kept_may_be_damaged(change):
    with pytest.raises(ArtifactError, match="what the model keeps of texts is damaged"):
        TextPreprocessing.from_json({**TextPreprocessing(ROLES, 4, "h").to_json(), **change})


def test_without_the_package_the_line_for_pip_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(DataError, match=r"pip install 'tvmq\[text\]'"):
        read_tokenizer(tmp_path / "t.json")


def test_a_real_tokenizer(tmp_path):
    tokenizers = pytest.importorskip("tokenizers", reason="an extra: pip install 'tvmq[text]'")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[PAD]": 0, "[UNK]": 1, "how": 2, "are": 3}, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(tmp_path / "t.json"))
    arrays, prepare = encode_texts(["how are you", "how"], ROLES, None, tmp_path / "t.json")
    assert arrays["input_ids"].tolist() == [[2, 3, 1], [2, 0, 0]] and arrays["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]
    assert len(prepare.tokenizer) == 64 and pad_id_of(tokenizers.Tokenizer.from_file(str(tmp_path / "t.json"))) == 0
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(DataError, match="cannot be read as a tokenizer.json"):
        read_tokenizer(tmp_path / "no.json")
