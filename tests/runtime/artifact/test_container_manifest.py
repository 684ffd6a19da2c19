"""Manifests that contradict the saved file: refusals and their messages."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import parse
from tests.support.models.saved_files import SMALL, W, X, edited, refused, small
from tvmq.codegen.target.cpu import resolve_target
from tvmq.errors import ArtifactError, ConfigError, TargetError
from tvmq.runtime.artifact import container
from tvmq.runtime.artifact.code_bytes import BYTECODE
from tvmq.runtime.artifact.container import MANIFEST, unpack


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small saved model."""
    path = tmp_path_factory.mktemp("small") / "small.tvmq"
    small().save(path)
    return path


INDEX = {"input": "x", "sizes": [8], "layer": "rows", "operator": "take"}


@pytest.mark.parametrize("place, value, message", [
    ("schema", 1, "has schema 1, this tvmq .* reads 3 to 5; it was saved by tvmq .*: build and save the model"),
    ("schema", "2", "has schema '2'"), ("schema", None, "no schema version"),
    ("tvm", "0.99.0", "was saved with apache-tvm 0.99.0, this is .*build and save the model again"),
    ("tvm", None, "was saved with apache-tvm None"),
    *((place, value, re.escape(f"'{place}' of the manifest {'is missing' if value is None else f'cannot be {value!r}'}; save"))
      for place, value in [
        ("needs", "avx2"), ("needs", None), ("target", "llvm"), ("arch", 3), ("kernels", []), ("sha256", [1]),
        ("description", 5), ("description.inputs", {}), ("description.ledger", None),
        ("description.names", [["a"]]), ("description.ledger.layers", []), ("description.ledger.stage", 1),
        ("description.outputs", None), ("tvmq", 1), ("tvm_ffi", None), ("description.functions", []),
        ("description.limits", []), ("description.batch", "rows"), ("description.ledger.more", 1),
        ("further", []), ("description.calls", [1]), ("description.calls.unaligned", 0),
        ("description.calls.origins", {}), ("description.indices", {}), ("description.common", {})]),
    *((f"description.{place}", value, re.escape(f"'description.{path}' of the manifest cannot be {wrong!r}; save the model"))
      for place, value, path, wrong in [
        ("inputs.0.name", 4, "inputs[0].name", 4), ("inputs.0.shape", [2, 3.5], "inputs[0].shape[1]", 3.5),
        ("inputs.0.shape", [True], "inputs[0].shape[0]", True), ("inputs.0.shape", [-1], "inputs[0].shape[0]", -1),
        ("inputs.0.shape", [2**63], "inputs[0].shape[0]", 2**63), ("inputs.0.color", "red", "inputs[0].color", "red"),
        ("inputs.0.dtype", "object", "inputs[0].dtype", "object"), ("inputs.0.dtype", "f99", "inputs[0].dtype", "f99"),
        ("inputs.0.dtype", 1, "inputs[0].dtype", 1), ("inputs.0.scale", "1", "inputs[0].scale", "1"),
        ("functions", {"quantized_main": {"inputs": [], "outputs": {}}}, "functions.quantized_main.outputs", {}),
        ("limits", {"n": {"least": 1, "most": -1, "why": ""}}, "limits.n.most", -1),
        ("calls.unaligned", [1], "calls.unaligned[0]", 1), ("calls.functions.0", ["f"], "calls.functions[0]", ["f"]),
        ("calls.functions.0", ["f", 7], "calls.functions[0][1]", 7), ("calls.functions", "zz", "calls.functions", "zz"),
        ("calls.origins.0.macs", "7", "calls.origins[0].macs", "7"),
        ("calls.origins.0.layers", [7], "calls.origins[0].layers[0]", 7),
        ("indices", [{**INDEX, "input": "rows"}], "indices[0].input", "rows"),
        ("indices", [{**INDEX, "sizes": ["rows"]}], "indices[0].sizes[0]", "rows"),
        ("indices", [{**INDEX, "sizes": [-8]}], "indices[0].sizes[0]", -8),
        ("indices", [{**INDEX, "sizes": []}], "indices[0].sizes", []),
        ("indices", [{**INDEX, "sizes": [8, 8]}], "indices[0].sizes", [8, 8])]),
    ("needs", ["avx2", 1], r"'needs\[1\]' of the manifest"),
    ("kernels", {"x": 3}, "'kernels.x' of the manifest"),
    ("description.inputs.0.shape", [2**40, 2**20], "TVM cannot use the code"),
    ("description.functions", {"quantized_main": {"inputs": [], "outputs": []}}, "TVM cannot use the code"),
    ("sha256.vm.bin", "0", "'vm.bin' is damaged"),
])  # fmt: skip
def test_other_manifests(saved, tmp_path, place, value, message):
    path = tmp_path / "changed.tvmq"
    if place == "sha256.vm.bin":
        hashes = unpack("here", saved.read_bytes())[0]["sha256"]
        path.write_bytes(edited(saved.read_bytes(), "sha256", {**hashes, BYTECODE: "0"}))
    else:
        path.write_bytes(edited(saved.read_bytes(), place, value))
    assert re.search(message, refused(path))


@pytest.fixture(scope="module")
def dynamic(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A saved model of any number of rows, with code of its own for two."""
    path = tmp_path_factory.mktemp("dynamic") / "dynamic.tvmq"
    rows = SMALL.replace("x: R.Tensor((8,)", 'x: R.Tensor(("n", 8)')
    tvmq.build(parse(rows, w=W), sizes={"n": [2]}).save(path)
    return path.read_bytes()


@pytest.mark.slow_cases("batch-m-*", "common.0.sizes-value1*")
@pytest.mark.parametrize("place, value, message", [
    ("batch", "m", "'description.batch' of the manifest cannot be 'm'"),
    ("common.0.sizes", {}, "'description.common[0].sizes.n' of the manifest is missing"),
    ("common.0.sizes", {"n": 2, "m": 1}, "'description.common[0].sizes.m' of the manifest cannot be 1"),
    ("common.0.sizes.n", 0, "'description.common[0].sizes.n' of the manifest cannot be 0"),
    ("common.0.function", "main", "'description.calls.common.main' of the manifest is missing"),
    ("calls.common", {}, "'description.calls.common.main_1' of the manifest is missing"),
    ("calls.common.main_1.unaligned", [9], "'description.calls.common.main_1.unaligned[0]' of the manifest cannot be 9"),
])  # fmt: skip
def test_other_manifests_of_dynamic_sizes(dynamic: bytes, tmp_path: Path, place: str, value: Any, message: str) -> None:
    path = tmp_path / "changed.tvmq"
    path.write_bytes(edited(dynamic, f"description.{place}", value))
    assert f"{message}; save the model again" in refused(path)


@pytest.mark.parametrize("place, value, message", [
    ("inputs.0.shape", [9], "run: the code takes other inputs than its description says"),
    ("inputs.0.shape", [4, 2], "run: the code takes other inputs than its description says"),
    ("inputs.0.dtype", "float64", "run: the code takes other inputs than its description says"),
    ("inputs", [{"name": name, "shape": [8], "dtype": "float32"} for name in "xy"], "run: the code takes other inputs"),
    ("outputs", [], "run: the code gives 1 results, its description names 0; build the model and save it again"),
])  # fmt: skip
def test_a_description_of_other_code(saved: Path, dynamic: bytes, tmp_path: Path, place: str, value: Any, message: str):
    path = tmp_path / "changed.tvmq"
    path.write_bytes(edited(dynamic if place == "outputs" else saved.read_bytes(), f"description.{place}", value))
    exe = tvmq.load(path)
    feed = {info.name: np.zeros([3 if n == "n" else n for n in info.shape], info.dtype) for info in exe.input_info}
    with pytest.raises(ArtifactError, match=f"^{re.escape(message)}") as caught:
        exe.run(feed)
    assert "\n" not in str(caught.value) and str(caught.value).endswith("build the model and save it again")


def test_further_entries_of_the_manifest_do_no_harm(saved, tmp_path):
    path = tmp_path / "changed.tvmq"
    path.write_bytes(edited(saved.read_bytes(), "comment", "from a friend"))
    assert np.array_equal(tvmq.load(path)(X), small()(X))


def test_a_cpu_with_more_features(saved, tmp_path):
    path = tmp_path / "more.tvmq"
    needs = [*sorted(resolve_target().needs), "hyperdrive", "amx-tile9"]
    path.write_bytes(edited(saved.read_bytes(), "needs", needs))
    text = refused(path, TargetError)
    assert "needs amx-tile9, hyperdrive, which this CPU lacks; build the model here" in text
    path.write_bytes(edited(saved.read_bytes(), "arch", "riscv"))
    assert "was built for riscv, this CPU is" in refused(path, TargetError)


def test_the_sha256_is_text(saved: Path) -> None:
    for wrong in (5, b"x"):
        with pytest.raises(
            ConfigError, match=r"^load: sha256 must be the text that `save` returned. Got (5|b'x') instead$"
        ):
            tvmq.load(saved, sha256=wrong)  # type: ignore[arg-type]


def test_a_target_that_tvm_refuses(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        blobs = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(blobs.pop(MANIFEST))
    manifest["target"]["mattr"] = 1.5
    (tmp_path / "m.tvmq").write_bytes(container.pack(manifest, blobs))
    with pytest.raises(
        ArtifactError, match=r"'target' of the manifest is wrong \(.*\); save the model again$"
    ) as caught:
        tvmq.load(tmp_path / "m.tvmq")
    assert "\n" not in str(caught.value)
