"""docs/reference/doctor-checks.md has every check as the code has it."""

from __future__ import annotations

import re
from pathlib import Path

from hoodie.doctor.catalogue import CHECKS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "doctor-checks.md").read_text()
ROW = re.compile(r"^\| `([a-z-]+)` \| (\w+) \| (yes|no|) \|", re.M)


def test_every_check_is_on_the_page():
    told = {name: (severity, fixed == "yes") for name, severity, fixed in ROW.findall(PAGE)}
    assert told == {name: (str(check.severity), check.fixed) for name, check in CHECKS.items()}
