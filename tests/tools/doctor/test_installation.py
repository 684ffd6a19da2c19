"""The doctor on installations: healthy ones are recognized, and each fault is named with its remedy."""

from __future__ import annotations

from importlib import metadata

import pytest

from tvmq.codegen.target.cpu import resolve_target
from tvmq.tools.doctor import installation, machine
from tvmq.tools.doctor.findings import count_problems, note, run_check
from tvmq.tools.doctor.installation import check_package, check_packages, check_python, import_error
from tvmq.tools.doctor.installation_checks import check_installation
from tvmq.tools.doctor.versions import parse_requirement, sort_key


def test_this_installation_is_healthy():
    findings = list(check_installation())
    found = {finding.subject: finding for finding in findings}
    assert len(found) == len(findings), "each subject once, for those who read the JSON by it"
    assert {"python", "tvm", "cpu", "kernels", "threads", "cache", "memory", "blas", "target llvm", "self-test"} <= set(
        found
    )
    assert found["self-test"].status == "ok" and found["self-test"].figures["exact"]
    assert found["cpu"].figures["level"] in found["kernels"].what
    assert found["tvm"].status == "ok"


@pytest.mark.parametrize("version, bounds, fits", [
    ("0.27.0.post1", "<0.28,>=0.27.0.post1", True), ("0.27.0", "<0.28,>=0.27.0.post1", False),
    ("0.28.0", "<0.28,>=0.27.0.post1", False), ("0.28.0rc1", "<0.28", False), ("0.1.14.post2", "<0.1.15,>=0.1.14.post1", True),
    ("0.1.15", "<0.1.15", False), ("2.13.0+cpu", ">=2.9", True), ("1.9", "!=1.9", False), ("1.26", "==1.26.0", True),
])  # fmt: skip
def test_bounds(version, bounds, fits):
    assert parse_requirement(f"x{bounds}").admits(version) is fits


def test_versions_are_ordered():
    order = ["1.0.dev1", "1.0a1", "1.0b2", "1.0rc1", "1.0", "1.0.post1", "1.0.1", "1.10"]
    assert sorted(reversed(order), key=sort_key) == order


def test_our_own_requirements_are_understood():
    """Requirements of setup.cfg, in the forms that pip writes into the metadata."""
    for requirement in installation.requirements():
        assert requirement.name and requirement.bounds, requirement


def test_a_wrong_version_is_a_problem():
    found = check_package(parse_requirement("numpy>=99"))
    assert found.status == "problem" and "requires >=99" in found.what and found.remedy == 'pip install "numpy>=99"'


def test_a_missing_package_is_a_problem():
    found = check_package(parse_requirement("no-such-package>=1.0"))
    assert found.status == "problem" and found.what == "not installed; tvmq requires >=1.0"


def test_a_package_that_does_not_import_is_a_problem(monkeypatch):
    monkeypatch.setattr(installation, "import_error", lambda module: f"OSError: {module}.so: cannot open")
    found = check_package(parse_requirement("numpy>=1.0"))
    assert found.status == "problem" and "cannot be imported: OSError: numpy.so" in found.what
    assert import_error("no_such_module").startswith("ModuleNotFoundError")


def test_two_copies_of_tvmq_are_a_problem(monkeypatch):
    monkeypatch.setattr(installation, "__version__", "9.9.9")
    found = next(check_packages())
    assert found.status == "problem" and "two copies" in found.remedy


def test_a_source_folder_is_noted(monkeypatch):
    def absent(_name: str) -> list[str]:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "requires", absent)
    (found,) = check_packages()
    assert found.status == "note" and found.remedy.startswith("pip install -e .")


def test_python_that_is_too_new(monkeypatch):
    monkeypatch.setattr(installation, "NEWEST", (3, 9))
    assert next(check_python()).status == "problem"


def test_a_full_or_closed_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TVMQ_CACHE", "")
    assert next(machine.check_cache()).status == "note"
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("TVMQ_CACHE", str(tmp_path / "file"))
    found = next(machine.check_cache())
    assert found.status == "problem" and "TVMQ_CACHE" in found.remedy
    monkeypatch.setenv("TVMQ_CACHE", str(tmp_path))
    assert next(machine.check_cache()).figures["files"] == 1
    monkeypatch.setattr(machine, "LARGE_CACHE", 1)
    assert "deleted" in next(machine.check_cache()).remedy


def test_threads_beyond_what_the_group_may_use(monkeypatch, tmp_path):
    monkeypatch.setenv("TVMQ_NUM_THREADS", "4")
    monkeypatch.setattr(machine, "cpu_quota", lambda: 1.5)
    (found,) = machine.check_threads()
    assert found.status == "problem" and found.remedy == "export TVMQ_NUM_THREADS=1"
    monkeypatch.setenv("TVMQ_NUM_THREADS", "4000")
    monkeypatch.setattr(machine, "cpu_quota", lambda: None)
    assert "more threads than CPUs" in next(machine.check_threads()).what


def test_limits_of_control_groups(tmp_path):
    assert machine.cpu_quota(tmp_path) is None and machine.memory_limit(tmp_path) is None
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.cpu_quota(tmp_path) == 1.5 and machine.memory_limit(tmp_path) is None
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "memory.max").write_text("1073741824\n")
    assert machine.cpu_quota(tmp_path) is None and machine.memory_limit(tmp_path) == 2**30


def test_little_memory_is_noted(monkeypatch):
    monkeypatch.setattr(machine, "free_memory", lambda: 2**29)
    monkeypatch.setattr(machine, "memory_limit", lambda: None)
    (found,) = machine.check_memory()
    assert found.status == "note" and found.what == "0.5 GiB free"


def test_memory_without_proc(tmp_path):
    """macOS and Windows have no /proc."""
    free = machine.free_memory(tmp_path / "none")
    assert free is None or free > 0


def test_a_driver_without_a_usable_gpu_is_a_problem(monkeypatch):
    tvm = pytest.importorskip("tvm")
    if tvm.cuda(0).exist:
        pytest.skip("this machine has a GPU that works")
    monkeypatch.setattr(machine, "has_nvidia_driver", lambda: True)
    (found,) = machine.check_gpu()
    assert found.status == "problem" and "libcudart.so.13" in found.remedy


def test_features_that_the_system_hides_are_noted(monkeypatch):
    """Those of code alone: nobody misses rdseed."""
    monkeypatch.delenv("TVMQ_CPU", raising=False)
    monkeypatch.setattr("tvmq.codegen.target.host.host_options", lambda: {"mattr": ["+fma", "-avx512vnni", "-avx512bw"]})
    found = {finding.subject: finding for finding in machine.check_cpu()}
    assert found["cpu"].status == "ok" and found["cpu"].figures["level"] == resolve_target().isa.name
    assert found["cpu features"].what == "the operating system hides avx512vnni, avx512bw: not used"


def test_a_cpu_that_is_not_this_one_is_noted(monkeypatch):
    monkeypatch.setenv("TVMQ_CPU", "x86-64")
    if resolve_target().arch != "x86":
        pytest.skip("x86-64 is no CPU of this architecture")
    found = {finding.subject: finding for finding in machine.check_cpu()}
    assert found["kernels"].what == "level 'generic'" and "TVMQ_CPU" in found["cpu features"].what
    monkeypatch.setenv("TVMQ_CPU", "no-such-cpu")
    (found,) = run_check("cpu", machine.check_cpu)
    assert found.status == "problem" and "TVMQ_CPU: LLVM knows no CPU 'no-such-cpu'" in found.what


def test_a_check_that_breaks_is_a_problem():
    def breaks():
        yield note("x", "seen")
        raise RuntimeError("boom\nat line 2")

    before, found = run_check("x", breaks)
    assert before == note("x", "seen")
    assert found.status == "problem" and "RuntimeError: boom" in found.what and count_problems([before, found]) == 1


def test_without_tvm_the_rest_is_still_told(monkeypatch):
    monkeypatch.setattr(installation, "check_tvm_wheels", lambda: [installation.problem("tvm", "broken", "install it")])
    subjects = [finding.subject for finding in check_installation()]
    assert subjects[-1] == "tvm" and "memory" in subjects
