"""`tvmq export-library`: the files of the function, in words and as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tvm import relax, tirx

import tvmq
from tvmq.runtime.artifact.native_library import runs_linux_x86


def build_relu(rows: Any = 2) -> tvmq.Executable:
    """y = relu(x) of three columns."""
    x = relax.Var("x", relax.TensorType((rows, 3), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.nn.relu(x))
        builder.emit_func_output(y)
    return tvmq.build(builder.get())


@pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
def test_the_command_writes_what_the_function_writes(cli, tmp_path):
    exe = build_relu()
    exe.save(tmp_path / "relu.tvmq")
    export = tvmq.export_library(exe, tmp_path / "relu")
    done = cli("export-library", tmp_path / "relu.tvmq", "-o", tmp_path / "c" / "relu", "--json", "--quiet")
    assert done.code == 0 and done.err == "", done.err
    assert json.loads(done.out)["undefined"] == list(export.undefined)
    assert (tmp_path / "c" / "relu" / "librelu.so").read_bytes() == export.library.read_bytes()
    shown = cli("export-library", tmp_path / "relu.tvmq", "-o", tmp_path / "c", "--name", "relu", "--quiet")
    assert shown.code == 0 and "librelu.so, relu.h, relu.json and example.c" in shown.out
    static = cli("export-library", tmp_path / "relu.tvmq", "-o", tmp_path / "s" / "relu", "--static")
    assert static.code == 0 and "librelu.a" in static.out and (tmp_path / "s/relu/librelu.a").is_file()
    packed = cli("export-library", tmp_path / "relu.tvmq", "-o", tmp_path / "w" / "relu", "--wheel", "--version", "2.0")
    assert packed.code == 0 and "relu-2.0-py3-none-manylinux2014_x86_64.whl" in packed.out


@pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
def test_the_command_writes_a_bill_of_materials(cli, tmp_path):
    pytest.importorskip("cyclonedx")
    build_relu().save(tmp_path / "relu.tvmq")
    done = cli("export-library", tmp_path / "relu.tvmq", "-o", tmp_path / "relu", "--bom", "--quiet")
    assert done.code == 0 and "relu.cdx.json" in done.out, done.err
    assert json.loads((tmp_path / "relu" / "relu.cdx.json").read_text())["specVersion"] == "1.6"


@pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
def test_run_takes_the_folder_and_bench_a_saved_model(cli, tmp_path):
    exe = build_relu()
    tvmq.export_library(exe, tmp_path / "net")
    x = np.array([[-1, 2, 3], [4, 5, -6]], np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    result = cli("run", tmp_path / "net", "--data", tmp_path / "in.npz", "--output", tmp_path / "out.npz")
    assert result.code == 0, result.err
    (scores,) = np.load(tmp_path / "out.npz").values()
    np.testing.assert_array_equal(scores, exe(x))
    assert (
        "is a folder or a library, which `tvmq run` alone takes; name the .tvmq file"
        in cli("bench", tmp_path / "net").err
    )


@pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
def test_run_takes_all_rows_of_a_dynamic_model(cli, tmp_path):
    tvmq.export_library(build_relu(tirx.Var("rows", "int64")), tmp_path / "net")
    x = np.random.default_rng(0).standard_normal((7, 3)).astype(np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    result = cli("run", tmp_path / "net", "--data", tmp_path / "in.npz", "--output", tmp_path / "out.npz")
    assert result.code == 0, result.err
    np.testing.assert_array_equal(next(iter(np.load(tmp_path / "out.npz").values())), np.maximum(x, 0))
