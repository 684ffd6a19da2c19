"""tools/house_words.py: each kind of word on a tree of a few lines."""

import ast
import importlib
from pathlib import Path

import pytest

from tests.support.project import ROOT

WALK = '''"""One walk: see gone.py, walk.py and graph/walk.py."""


class Given:
    """The same as before."""

    def rounded(self, given):
        """Round it."""
        return given  # as in old/walk.py


class Walk:
    def read(self):
        """See the head of this file."""
        found = made = self
        return found


def _wide(speed):
    """Of no use."""


def load_data(text):
    """Load my_data.py:batches."""
'''
TEXTS = {"tvmq/graph/walk.py": WALK, "passes/walk.py": "class Walk: ...\n"}


@pytest.fixture(scope="module")
def words():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        yield importlib.import_module("house_words")


@pytest.fixture
def trees(tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return {Path(name): ast.parse(text) for name, text in TEXTS.items()}


def test_participles(words, trees):
    assert words.participle_functions(trees) == ["tvmq/graph/walk.py:19: _wide", "tvmq/graph/walk.py:7: rounded"]
    assert words.participle_classes(trees) == ["tvmq/graph/walk.py:4: Given"]


def test_names_of_relay_are_not_counted(words):
    trees = {Path("tvmq/relay/types.py"): ast.parse("class Any: ...\ndef full(): ...\ndef _wide(): ...\n")}
    assert words.participle_classes(trees) == []
    assert words.participle_functions(trees) == ["tvmq/relay/types.py:3: _wide"]


@pytest.mark.parametrize("word", ["embed", "feed", "need", "set", "read", "fit", "padding", "scale", "low"])
def test_verbs_and_nouns_are_no_participles(words, word):
    assert not words.is_participle(word)


def test_docstrings(words, trees):
    places = [line.split(": ")[0] for line in words.vague_docstrings(trees)]
    assert places == [f"tvmq/graph/walk.py:{line}" for line in (1, 4, 19, 13)]


def test_locals_are_counted_by_use(words, trees):
    names = [line.rsplit(": ")[1] for line in words.vague_locals(trees)]
    assert sorted(names) == ["found", "found", "given", "given", "made"]


def test_names_that_stand_twice(words, trees):
    assert words.repeated_classes(trees) == ["Walk: tvmq/graph/walk.py, passes/walk.py"]
    assert words.repeated_files(trees) == ["walk.py: 2"]


def test_files_that_do_not_exist(words, trees, tmp_path):
    assert words.stale_mentions(trees, tmp_path) == [
        "tvmq/graph/walk.py:9: old/walk.py",
        "tvmq/graph/walk.py:1: gone.py",
    ]
