"""Code for several CPUs in one executable and one file: the choice at loading, shared members, refusals."""

from __future__ import annotations

import json
import zipfile
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net
from tests.support.models.saved_files import edited, refused, remade, small
from tvmq.codegen.target import host
from tvmq.codegen.target.cpu import NAMES, CpuTarget, index_of_best, resolve_target
from tvmq.errors import TargetError
from tvmq.runtime.artifact import container, shared_constants
from tvmq.runtime.artifact.bytecode import Bytecode
from tvmq.runtime.artifact.code_bytes import BYTECODE, CONSTANTS
from tvmq.runtime.artifact.container import MANIFEST, unpack

X = np.random.default_rng(0).normal(size=(1, 16, 9, 9)).astype(np.float32)
TARGETS = ["x86-64", "arm-dotprod", "x86-64-v3"]
x86 = pytest.mark.skipif(resolve_target().arch != "x86", reason="the levels are those of x86")


@pytest.fixture(scope="module")
def module() -> object:
    """Two convolutions in integers; AVX2 has Winograd for the first, and weights that no lane of 16 bits can add."""
    net = Net((1, 16, 9, 9))
    model = net.model(net.op("Relu", net.conv(net.op("Relu", net.conv("x", 16, 40)), 40, 24, 1)))
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(weight_scale="max"):
        return tvmq.quantize(mod, params, [{"x": X}], guard=None)


@pytest.fixture(scope="module")
def fat(module) -> tvmq.Executable:
    """The two convolutions for three CPUs."""
    return tvmq.build(module, target=TARGETS)


@pytest.fixture(scope="module")
def path(fat, tmp_path_factory) -> Path:
    """File of the executable."""
    path = tmp_path_factory.mktemp("fat") / "fat.tvmq"
    fat.save(path)
    return path


def without(*features: str) -> mock._patch:
    """Pretend that this CPU lacks some of its features."""
    found = host.host_features() - set(features)
    return mock.patch.object(host, "host_features", lambda: found)


@pytest.mark.slow
@x86
@pytest.mark.isa("avx2")
def test_the_best_code_is_taken(fat, path, module):
    assert [target.name for target in fat.targets] == ["x86-64", "generic+v8.2a+dotprod", "x86-64-v3"]
    assert fat.target.name == "x86-64-v3" and {"winograd4x4_avx2", "conv2d_avx2"} <= {
        name.rpartition("_")[0] for name in fat.kernels.values()
    }
    expected = tvmq.build(module)(X)
    assert np.array_equal(fat(X), expected)
    loaded = tvmq.load(path)
    assert (loaded.target, loaded.targets, loaded.kernels) == (fat.target, fat.targets, fat.kernels)
    assert np.array_equal(loaded(X), expected)
    with without("avx2"):
        loaded = tvmq.load(path)
        assert loaded.target.name == "x86-64" and "conv2d_generic" in " ".join(loaded.kernels.values())
        assert np.array_equal(loaded(X), expected)
    assert tvmq.verify(tvmq.load(path), [{"x": X}]).exact


@pytest.mark.slow
@x86
@pytest.mark.isa("avx2")
def test_the_file_does_not_depend_on_what_runs_here(module, fat, path, tmp_path):
    """Models built on a CPU that prefers another code are equal; loaded ones are saved as they were."""
    with without("avx2"):
        exe = tvmq.build(module, target=TARGETS)
        assert exe.target.name == "x86-64"
        exe.save(tmp_path / "again.tvmq")
    again = tvmq.load(tmp_path / "again.tvmq")
    assert (again.targets, again.target, again.kernels) == (fat.targets, fat.target, fat.kernels)
    again.save(tmp_path / "loaded.tvmq")
    assert (tmp_path / "again.tvmq").read_bytes() == (tmp_path / "loaded.tvmq").read_bytes()


@pytest.mark.slow
def test_constants_are_shared(path, fat):
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read(MANIFEST))
    assert manifest["schema"] == 4
    weights = 16 * 40 * 9 + 40 * 24
    assert len(manifest["further"]) == 2
    for code in manifest["further"]:
        packed = [cut for cut in code["cuts"] if len(cut) > 4]
        assert {name for _, name, *_ in packed} == {"constants.bin"}
        assert len(packed) == 2 and sum(end - begin for _, _, begin, end, _ in packed) == weights


@x86
def test_which_is_best():
    names = ["x86-64", "avx512", "avx512-vnni", "x86-64-v3", "avx-vnni"]
    targets = [resolve_target(name) for name in names]
    everything = frozenset().union(*(target.features for target in targets))
    for hidden, expected in [((), 2), (("avx512vnni",), 4), (("avx512vnni", "avxvnni"), 1), (("avx512f",), 4),
                             (("avx512f", "avxvnni"), 3), (("avx2",), 0), (("sse2",), None)]:  # fmt: skip
        gone = set(hidden) | ({"avx512bw", "avx512vl", "avx512dq", "avx512cd"} if "avx512f" in hidden else set())
        with mock.patch.object(host, "host_features", lambda gone=gone: everything - gone):
            assert index_of_best(targets) == expected, hidden


@pytest.mark.slow
def test_equal_targets_are_one(module):
    exe = tvmq.build(module, target=["llvm", "llvm -mcpu=native"])
    assert exe.targets == (exe.target,) and exe(X).shape == (1, 24, 9, 9)


@pytest.mark.slow_cases("target0")
@pytest.mark.parametrize("target", [[], ["llvm", "cuda"]])
def test_lists_that_are_refused(module, target):
    with pytest.raises(TargetError, match="build: a list of targets names CPUs, at least one. Got"):
        tvmq.build(module, target=target)


@pytest.mark.slow
@x86
def test_no_code_for_this_cpu(path, fat):
    with without("avx2", "sse2"):
        text = refused(path, TargetError)
        assert "was built for x86-64 (this CPU lacks sse2), generic+v8.2a+dotprod (" in text
        exe = tvmq.build(small().module, target=["x86-64", "x86-64-v3"])
        with pytest.raises(
            TargetError, match=r"run: the model was built for x86-64 \(this CPU lacks sse2\), x86-64-v3"
        ):
            exe(np.zeros(8, np.float32))


@pytest.mark.parametrize("name", NAMES)
def test_short_names(name):
    target = resolve_target(name)
    assert isinstance(target, CpuTarget) and target.isa.name in {
        "x86-64": "generic", "x86-64-v2": "generic", "x86-64-v3": "avx2", "x86-64-v4": "avx512bw", "avx512": "avx512bw",
        "arm-neon": "neon", "arm-dotprod": "dotprod", "arm-i8mm": "i8mm",
    }.get(name, name.replace("-", ""))  # fmt: skip


@pytest.mark.slow
@x86
@pytest.mark.isa("avx2")
def test_only_what_the_chosen_code_needs_is_kept(path):
    """Reading keeps the members of the chosen code: its own, and those that it takes from other codes."""
    manifest, blobs = unpack("here", path.read_bytes())
    taken = {cut[1] for cut in manifest["further"][1]["cuts"]}
    assert CONSTANTS in taken
    _, kept = unpack("here", path.read_bytes(), partial(container._readers, "here", 2**30))
    needed = {f"2/{name}" for name in container.CODE} | taken
    assert {name: kept[name] for name in needed} == {name: blobs[name] for name in needed}
    assert {name for name, content in kept.items() if content is None} == blobs.keys() - needed
    with without("avx2"):
        _, kept = unpack("here", path.read_bytes(), partial(container._readers, "here", 2**30))
    assert isinstance(kept[BYTECODE], Bytecode)
    assert {name for name, content in kept.items() if content is None} == blobs.keys() - set(container.CODE)


@pytest.mark.parametrize("key, value, message", [
    ("further.0.cuts", 3, "'further[0].cuts' of the manifest cannot be 3; save the model again"),
    ("further.0.own", {"calls": {"unaligned": [9]}}, "'further[0].own.calls.unaligned[0]' of the manifest cannot be 9"),
    ("further.1.own", {}, "'further[1].own.calls' of the manifest is missing"),
    ("further", [], "holds 1 members '1/vm.bin'"),
    ("further", 3, "holds 1 members '1/vm.bin'"),
])  # fmt: skip
def test_damaged_manifests(path, tmp_path, key, value, message):
    broken = tmp_path / "broken.tvmq"
    broken.write_bytes(edited(path.read_bytes(), key, value))
    assert message in refused(broken)


@pytest.mark.parametrize("cut", [
    [0, "constants.bin", 0, 10**9], [-1, "constants.bin", 0, 4], [0, "absent", 0, 4], ["x", 1, 2, 3], [0, "vm.bin"],
    [0, "constants.bin", 0, 4, {"level": "mmx"}], [0, "constants.bin", 0, 4, {}], [0, "constants.bin", 0, 4, [1]],
])  # fmt: skip
@x86
@pytest.mark.isa("avx2")
def test_damaged_cuts(path, tmp_path, cut):
    def change(members: dict[str, bytes]) -> None:
        manifest = json.loads(members[MANIFEST])
        manifest["further"][1]["cuts"] = [cut]
        members[MANIFEST] = json.dumps(manifest).encode()

    broken = tmp_path / "broken.tvmq"
    broken.write_bytes(remade(path.read_bytes(), change))
    assert "further[1].cuts" in refused(broken)


def test_tensors_of_any_bytes():
    """Bytes that only look like a tensor are not read as one."""
    code = shared_constants.TENSOR_MARK + b"\xff" * 60 + shared_constants.TENSOR_MARK
    assert list(shared_constants.tensors(code)) == []
    assert shared_constants.cut_constants(code, {"a": code}) == (code, [])
