"""The machines that a saved model has code for, and which of its codes this one runs.

Tests: tests/runtime/artifact/test_container.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvmq.base.text import last_line
from tvmq.codegen.target.cpu import host_arch, index_of_best, reasons
from tvmq.codegen.target.cuda import cuda_target, is_cuda
from tvmq.codegen.target.host import missing_features, remaining_features
from tvmq.codegen.target.saved_target import saved_target
from tvmq.errors import ArtifactError, TargetError
from tvmq.runtime.artifact.manifest import codes_of


def targets_of(where: str, manifest: dict[str, Any]) -> list[Any]:
    """The CPUs or the GPU of a saved model."""
    try:
        return [
            cuda_target(code["target"])
            if is_cuda(code["target"])
            else saved_target(code["target"], code["needs"], code["arch"])
            for code in codes_of(manifest)
        ]
    except Exception as error:  # TVM refuses in many ways
        reason = last_line(error)
        raise ArtifactError(f"{where}: 'target' of the manifest is wrong ({reason}); save the model again") from error


def runnable(where: str, codes: Sequence[dict[str, Any]], targets: Sequence[Any]) -> int:
    """Number of the code to take; TargetError if this CPU can run none, or not launch what a GPU runs."""
    if len(codes) > 1:
        number = index_of_best(targets)
        if number is None:
            raise TargetError(
                f"{where} was built for {reasons(targets)}; build the model here, or for a CPU whose features both have"
            )
        return number
    ((code, target),) = zip(codes, targets, strict=True)
    arch = host_arch()
    if code["arch"] != arch:
        raise TargetError(
            f"{where} was built for {code['arch']}, this CPU is {arch}; build the module in it here: "
            "`tvmq build`, or tvmq.build(tvmq.load(path, code=False).module)"
        )
    lacking = missing_features(remaining_features(code["needs"], arch))
    if lacking:
        raise TargetError(
            f"{where} was built for {target.name} and needs {', '.join(lacking)}, which this CPU lacks; "
            "build the model here, or for a CPU whose features both have"
        )
    return 0
