"""`tvmq doctor` without a model: all checks of the installation and the machine, in order."""

from __future__ import annotations

from collections.abc import Iterator

from tvmq.doctor import installation, machine
from tvmq.doctor.findings import Check, Finding, checked
from tvmq.doctor.self_test import self_test

# Subject -> check. Those behind the wheels need TVM.
PLAIN: dict[str, Check] = {
    "python": installation.python,
    "system": installation.system,
    "packages": installation.packages,
    "extras": installation.extras,
    "cache": machine.cache,
    "memory": machine.memory,
    "blas": machine.blas,
}
WITH_TVM: dict[str, Check] = {
    "cpu": machine.cpu,
    "threads": machine.cores,
    "targets": machine.targets,
    "gpu": machine.gpu,
    "self-test": self_test,
}


def checkup() -> Iterator[Finding]:
    """All findings, each as soon as it is known; where TVM does not work, those that need it are left out."""
    for subject, check in PLAIN.items():
        yield from checked(subject, check)
    wheels = checked("tvm", installation.wheels)
    yield from wheels
    if wheels[-1].status == "ok":
        for subject, check in WITH_TVM.items():
            yield from checked(subject, check)
