"""The list of seeded faults: each text occurs in its file once, and leads to tests."""

from __future__ import annotations

import pytest

from tests.support.project import ROOT
from tests.support.seeded_faults import FAULTS, Fault, name_tests


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.file)
def test_a_fault_can_be_seeded(fault: Fault) -> None:
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1 and fault.old != fault.new
    compile(text.replace(fault.old, fault.new), fault.file, "exec")
    named, room = name_tests(fault, ROOT)
    assert named and (ROOT / room).exists()
