"""Places of a bootstrap's source and table, however they are spelled."""

from __future__ import annotations

import pytest

from hoodie.engine import LocalEngine
from hoodie.errors import ConfigError
from hoodie.services.bootstrap import BootstrapRequest, preflight
from tests.support.sources import TABLE, put


@pytest.mark.parametrize(
    ("source", "table"),
    [
        ("source", "link/table"),
        ("link", "source/table"),
        ("source/../source", "source/table"),
        ("source", "source"),
        ("link/part=p", "source"),
        ("source/part=p", "other/../source"),
    ],
)
def test_places_that_lie_in_each_other_by_a_link_or_another_spelling(tmp_path, source, table):
    """Files of the table would be rows of the source, and a clean of the source could take the table."""
    put(tmp_path / "source", "part=p/a.parquet", ["a"])
    (tmp_path / "link").symlink_to("source")
    options = {"hoodie.bootstrap.base.path": f"file://{tmp_path}/{source}"}
    with pytest.raises(ConfigError, match="may not lie in each other"):
        preflight(BootstrapRequest(f"{tmp_path}/{table}", TABLE, options), LocalEngine(1))
