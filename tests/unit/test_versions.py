"""The page of versions names the bounds of pyproject.toml and the versions of the lock files."""

from __future__ import annotations

import re
import tomllib

from tests.support.archives import ROOT

PAGE = (ROOT / "docs" / "reference" / "versions.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def locked(name: str, lock: str = "dev") -> str:
    text = (ROOT / "requirements" / f"{lock}.lock").read_text()
    return re.findall(rf"^{re.escape(name)}(?:\[[^]]*\])?==([\w.]+)", text, re.M)[0]  # later ones: newer Pythons


def test_bounds_and_tested_versions():
    asked = [*PROJECT["dependencies"], *(each for many in PROJECT["optional-dependencies"].values() for each in many)]
    rows = re.findall(r"^\| `([\w-]+)`[^|]*\| `([^`]+)` \| ([\w.]+) \|$", PAGE, re.M)
    assert len(rows) > 5
    for name, bound, tested in rows:
        assert f"{name}{bound}" in asked, name
        assert tested == locked(name), name
        assert tested.startswith(bound.removeprefix(">=")), name
    assert f"| Python | `{PROJECT['requires-python']}` |" in PAGE


def test_peers():
    assert f"on Spark {locked('pyspark', 'peer')}" in PAGE
