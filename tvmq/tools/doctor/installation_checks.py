"""`tvmq doctor` without a model: all checks of the installation and the machine, in order.

Tests: tests/tools/doctor/test_installation.py
"""

from __future__ import annotations

from collections.abc import Iterator

from tvmq.tools.doctor import installation, machine
from tvmq.tools.doctor.findings import Check, Finding, run_check
from tvmq.tools.doctor.self_test import run_self_test

# Subject -> check. Those of WITH_TVM run only if the check of the wheels succeeds.
PLAIN: dict[str, Check] = {
    "python": installation.check_python,
    "system": installation.check_system,
    "packages": installation.check_packages,
    "extras": installation.check_extras,
    "cache": machine.check_cache,
    "memory": machine.check_memory,
    "blas": machine.check_known_products,
}
WITH_TVM: dict[str, Check] = {
    "cpu": machine.check_cpu,
    "threads": machine.check_threads,
    "targets": machine.check_targets,
    "gpu": machine.check_gpu,
    "self-test": run_self_test,
}


def check_installation() -> Iterator[Finding]:
    """Yield the findings of all checks as they complete; checks that need TVM are skipped if it does not work."""
    for subject, check in PLAIN.items():
        yield from run_check(subject, check)
    wheels = run_check("tvm", installation.check_tvm_wheels)
    yield from wheels
    if wheels[-1].status == "ok":
        for subject, check in WITH_TVM.items():
            yield from run_check(subject, check)
