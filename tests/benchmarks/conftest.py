"""The fixture of all tests of benchmarks."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.support.project import ROOT


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a benchmark, or a module of its harness, by name, as a script of its folder would."""
    pytest.importorskip("onnxruntime")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module
