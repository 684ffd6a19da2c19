"""Bills of materials: valid by the schema, hashes of what is there, equal for equal libraries."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from tvmq.errors import ConfigError
from tvmq.graph.ledger import get_ledger
from tvmq.library.bill_of_materials import bill_text
from tvmq.library.interface import Interface
from tvmq.library.size_table import SizeTable
from tvmq.runtime.artifact.native_library import runs_linux_x86

pytest.importorskip("cyclonedx")
pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are written for Linux on x86-64 only")


@pytest.fixture(scope="module")
def folder(digits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded network as a library, a package and a bill."""
    folder = tmp_path_factory.mktemp("bill") / "digits"
    export = tvmq.export_library(digits.exe, folder, bom=True, wheel=True, version="1.0")
    assert export.bom == folder / "digits.cdx.json" and export.bom.is_file()
    return folder


@pytest.fixture(scope="module")
def bill(folder: Path) -> dict[str, Any]:
    """Entries of the bill."""
    return json.loads((folder / "digits.cdx.json").read_text())


def by_reference(bill: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """{reference: component} of what is in the library."""
    return {component["bom-ref"]: component for component in bill["components"]}


def properties(component: dict[str, Any]) -> dict[str, str]:
    """{name: value}."""
    return {entry["name"]: entry["value"] for entry in component["properties"]}


def interface_of(dtype: str, shape: list[int]) -> Interface:
    """The interface of a model of one input and one output, alike."""
    tensors = [{"name": "x", "dtype": dtype, "shape": shape}]
    return Interface("net", "a" * 64, "b" * 64, tensors, tensors, [()] * 2, [0] * 2, [None] * 2, SizeTable(()))


@pytest.mark.slow
def test_the_schema_takes_it(folder):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    pytest.importorskip("jsonschema")
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    text = (folder / "digits.cdx.json").read_text()
    assert validator.validate_str(text) is None
    assert validator.validate_str(text.replace('"format"', '"shape"')) is not None


@pytest.mark.slow
def test_it_has_the_hashes_of_what_is_there(bill, folder, digits):
    facts = json.loads((folder / "digits.json").read_text())
    library, parts = bill["metadata"]["component"], by_reference(bill)
    sha256 = hashlib.sha256((folder / "libdigits.so").read_bytes()).hexdigest()
    assert library["name"] == "libdigits.so" and library["hashes"] == [{"alg": "SHA-256", "content": sha256}]
    assert properties(library)["tvmq:target"] == " ".join(target["name"] for target in facts["targets"])
    assert parts["model"]["type"] == "machine-learning-model"
    assert parts["model"]["hashes"] == [{"alg": "SHA-256", "content": facts["model_hash"]}]
    assert parts["model"]["modelCard"]["modelParameters"] == {
        "datasets": [{"ref": "calibration-data"}], "inputs": [{"format": "image: float32 [1, 1, 16, 16]"}],
        "outputs": [{"format": "scores: float32 [1, 10]"}],
    }  # fmt: skip
    data_hash = get_ledger(digits.module).data_hash
    assert len(data_hash) == 64 and properties(parts["calibration-data"])["tvmq:fingerprint"] == data_hash
    tools = {tool["name"]: tool["version"] for tool in bill["metadata"]["tools"]["components"]}
    assert tools["apache-tvm"] == tvm.__version__ and tools["numpy"] == np.__version__
    assert tools["tvmq"] == tvmq.__version__ == parts["runtime"]["version"]


@pytest.mark.slow
def test_equal_libraries_have_equal_bills(bill):
    interface = interface_of("int8", [2, 3])
    text = bill_text(interface, b"code", ["x86-64-v3"], "")
    assert text == bill_text(interface, b"code", ["x86-64-v3"], "") and "timestamp" not in text
    serials = {json.loads(bill_text(interface, code, ["x86-64-v3"], ""))["serialNumber"] for code in (b"code", b"more")}
    assert len(serials) == 2 and bill["serialNumber"] not in serials


def test_data_that_are_not_known_are_left_out():
    bill = json.loads(bill_text(interface_of("float32", [2]), b"code", ["x86-64"], ""))
    parts = by_reference(bill)
    assert set(parts) == {"model", "runtime"}
    assert set(parts["model"]["modelCard"]["modelParameters"]) == {"inputs", "outputs"}


def test_a_package_has_it_too(folder):
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        inside = archive.read("digits-1.0.dist-info/sboms/digits.cdx.json")
    assert inside == (folder / "digits.cdx.json").read_bytes()


def test_a_missing_package_is_named(digits, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cyclonedx.model.bom", None)
    with pytest.raises(
        ConfigError, match=r'^export_library: cyclonedx-python-lib cannot be imported .*pip install "tvmq\[bom\]"'
    ):
        tvmq.export_library(digits.exe, tmp_path / "digits", bom=True)
    assert not (tmp_path / "digits").exists()
