"""`tvmq doctor`: what is wrong with the installation, or with a model and its data."""

from __future__ import annotations

from collections.abc import Iterable

import typer

import tvmq
from tvmq.cli.arguments import Json, Quiet
from tvmq.cli.guard import FAILED
from tvmq.cli.screen import print_json
from tvmq.doctor.findings import PROBLEM, Finding, problems


def doctor(as_json: Json = False, quiet: Quiet = False) -> None:
    """Examine the installation: packages, CPU, threads, cache, GPU, and whether int8 computes exactly here.

    One line a finding: ok; note: worth knowing; problem: mend it, the arrow says how. Exits with 1 if there is any
    problem.

    Example: tvmq doctor --json > report.json
    """
    from tvmq.doctor.checkup import checkup

    show(checkup(), as_json=as_json, quiet=quiet)


def show(found: Iterable[Finding], *, as_json: bool, quiet: bool) -> None:
    """Print findings as they come, or all as JSON; exit with 1 if one of them is a problem."""
    findings = []
    for finding in found:
        findings.append(finding)
        # --quiet: what needs no attention is left out
        if not as_json and not (quiet and finding.status == "ok"):
            print(finding, flush=True)
    count = problems(findings)
    if as_json:
        listed = [finding.to_dict() for finding in findings]
        print_json({"version": tvmq.__version__, "problems": count, "findings": listed})
    elif not quiet:
        subjects = dict.fromkeys(finding.subject for finding in findings if finding.status == PROBLEM)
        print(f"\n{count} problem{'s' if count > 1 else ''}: {', '.join(subjects)}" if count else "\nno problems")
    if count:
        raise typer.Exit(FAILED)
