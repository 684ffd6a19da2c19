"""Paths of Relay and TVM that are no files here: importable, with the names of their rows, and TVM's own behind them."""

import importlib
import pkgutil
import sys

import pytest

from tests.support.project import ROOT
from tvmq import relay
from tvmq.relay import testing, tvm
from tvmq.relay.paths import PATHS, find_places, targets


@pytest.mark.parametrize("path", PATHS)
def test_each_is_a_module_with_its_names(path):
    module = importlib.import_module(f"tvmq.relay.{path}")
    assert module.__name__ == f"tvmq.relay.{path}" and module.__all__ == sorted(targets(path))
    for name, target in targets(path).items():
        holder, _, held = target.partition(":")
        assert getattr(module, name) is getattr(importlib.import_module(holder), held)


@pytest.mark.parametrize("path", PATHS)
def test_none_hides_a_file(path):
    place = ROOT / "tvmq/relay" / path.replace(".", "/")
    assert not place.exists() and not place.with_suffix(".py").exists()


def test_other_names():
    with pytest.raises(AttributeError, match="module 'tvmq.relay.testing.mlp' has no attribute 'get_cnn'"):
        testing.mlp.get_cnn  # noqa: B018
    with pytest.raises(AttributeError, match="graph_executor and debugger are here"):
        tvm.contrib.graph_executor.nothing  # noqa: B018
    with pytest.raises(ModuleNotFoundError, match="tvmq.relay.testing.alexnet"):
        importlib.import_module("tvmq.relay.testing.alexnet")


def test_all_are_packages_without_files_of_their_own():
    assert tvm.contrib.__path__ == [] == tvm.ir.__path__ == relay.transform.__path__
    assert not list(pkgutil.iter_modules(tvm.contrib.__path__))


def test_pythons_import_asks_once():
    before = list(sys.meta_path)
    find_places()
    assert sys.meta_path == before
