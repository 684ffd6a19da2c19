"""tvmq.relay.tvm: TVM's names of today, our replacements of removed ones, advice for the rest."""

import importlib

import numpy as np
import pytest
import tvm as today

from tvmq.errors import TargetError
from tvmq.relay import tvm


def test_names_of_today_are_tvms():
    assert tvm.cpu is today.cpu and tvm.te is today.te and tvm.testing is today.testing
    assert tvm.__version__ == today.__version__ and tvm.transform.ModulePass is today.transform.ModulePass
    assert tvm.runtime.tensor is today.runtime.tensor and tvm.target.TargetKind is today.target.TargetKind


@pytest.mark.parametrize("path", [
    "contrib.graph_executor", "contrib.graph_runtime", "contrib.debugger.debug_executor", "contrib.download",
    "contrib.utils", "runtime.vm", "transform", "target", "nd", "ir", "parser", "autotvm",
])  # fmt: skip
def test_modules_are_imported_by_their_paths(path):
    found = tvm
    for name in path.split("."):
        found = getattr(found, name)
    assert importlib.import_module(f"tvmq.relay.tvm.{path}") is found or path == "contrib.debugger.debug_executor"


@pytest.mark.parametrize("path, way", [
    ("tir", "tvm.tirx today"), ("lower", "tvm.s_tir"), ("nothing", "neither TVM nor tvmq"),
    ("contrib.cc", "graph_executor and debugger"), ("target.arm_cpu", "mcpu"), ("te.create_schedule", "tvm.te"),
    ("auto_scheduler.extract_tasks", "tune=seconds"), ("micro.Session", "export_c"),
    ("autotvm.task", "autotvm.task went with Relay; tiles are measured"), ("driver.tvmc", "tvmq quantize"),
    ("transform.nothing", "relay.transform"), ("runtime.nothing", "of today"), ("ir.nothing", "neither"),
])  # fmt: skip
def test_other_names_tell_the_way(path, way):
    *places, name = path.split(".")
    place = tvm
    for each in places:
        place = getattr(place, each)
    with pytest.raises(AttributeError, match=way if path != "te.create_schedule" else name):
        getattr(place, name)


def test_arrays():
    values = np.arange(6, dtype="float64").reshape(2, 3).T
    array = tvm.nd.array(values, tvm.cpu(0))
    assert isinstance(array, tvm.nd.NDArray) and array.dtype == "float64"
    np.testing.assert_array_equal(array.asnumpy(), values)
    assert (
        tvm.nd.array(array).shape == (3, 2) and tvm.nd.array(1.5).shape == () and tvm.nd.empty((2, 0)).shape == (2, 0)
    )
    assert tvm.device("llvm -mcpu=skylake") == tvm.context("cpu", 0) == tvm.cpu()


def test_targets():
    target = tvm.target.Target("llvm -mcpu=skylake-avx512", host="llvm")
    with target:
        assert tvm.target.Target.current().attrs["mcpu"] == "skylake-avx512"
    assert tvm.target.Target(target) is target and tvm.target.create("llvm").kind.name == "llvm"
    assert tvm.target.cuda(arch="sm_80").attrs["arch"] == "sm_80"
    with pytest.raises(TargetError, match="skylake-avx1024"):
        tvm.target.Target("llvm -mcpu=skylake-avx1024")


def test_contexts_take_options_of_relay():
    with pytest.warns(UserWarning, match="relay.backend.use_auto_scheduler went with Relay"):
        context = tvm.transform.PassContext(opt_level=3, config={"relay.backend.use_auto_scheduler": True})
    assert context.opt_level == 3
    with tvm.transform.PassContext(
        disabled_pass={"FoldScaleAxis", "AlterOpLayout"}, required_pass=["FuseOps"]
    ) as inner:
        assert list(inner.disabled_pass) == ["AlterOpLayout", "FoldScaleAxis"] and inner.opt_level == 2


def test_logs_of_schedules_are_not_read():
    with pytest.warns(UserWarning, match="logs of schedules"), tvm.autotvm.apply_history_best("history.log"):
        pass


def test_temporary_folders():
    folder = tvm.contrib.utils.tempdir()
    (folder / "a").write_text("")
    assert folder.listdir() == ["a"] and folder.relpath("a") == str(folder.path / "a")
    folder.remove()
    assert not folder.path.exists()
