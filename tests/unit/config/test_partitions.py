"""Names of partitions between commas, one of which may have a comma itself."""

from __future__ import annotations

import pytest

from hoodie.config.partitions import check_uncut
from hoodie.errors import ConfigError

KNOWN = ["city=Berlin", "city=Berlin, Germany", "city=q", "a,b,c/h=1"]


@pytest.mark.parametrize(
    "text", ["city=Berlin, Germany", "city=Berlin,Germany", "city=q,city=Berlin, Germany,city=q", "x,a,b,c/h=1"]
)
def test_parts_of_one_name_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="one whose name has a comma"):
        check_uncut(text.split(","), KNOWN)


@pytest.mark.parametrize(
    "names", [["city=Berlin"], ["city=Berlin", "city=q"], ["city=Berlin, Germany"], ["a", "c/h=1"], []]
)
def test_other_names_are_taken(names: list[str]) -> None:
    check_uncut(names, KNOWN)
