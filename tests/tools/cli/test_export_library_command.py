"""`tvmq export-library`: the files of the function, in words and as JSON."""

from __future__ import annotations

import json

import pytest
from tvm import relax

import tvmq
from tvmq.runtime.artifact.native_library import runs_linux_x86


@pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")
def test_the_command_writes_what_the_function_writes(cli, tmp_path):
    x = relax.Var("x", relax.TensorType((2, 3), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.nn.relu(x))
        builder.emit_func_output(y)
    exe = tvmq.build(builder.get())
    exe.save(tmp_path / "relu.tvmq")
    export = tvmq.export_library(exe, tmp_path / "relu")
    done = cli("export-library", tmp_path / "relu.tvmq", "-o", tmp_path / "c" / "relu", "--json", "--quiet")
    assert done.code == 0 and done.err == "", done.err
    assert json.loads(done.out)["undefined"] == list(export.undefined)
    assert (tmp_path / "c" / "relu" / "librelu.so").read_bytes() == export.library.read_bytes()
    shown = cli("export-library", tmp_path / "relu.tvmq", "-o", tmp_path / "c", "--name", "relu", "--quiet")
    assert shown.code == 0 and "librelu.so, relu.h, relu.json and example.c" in shown.out
