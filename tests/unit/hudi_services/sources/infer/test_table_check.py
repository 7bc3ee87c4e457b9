"""Folders of Hudi tables are no deliveries: the table itself, a partition of it, a lake of tables."""

from __future__ import annotations

import pytest

from hoodie.errors import SourceError
from hudi_services.sources.infer.profile import look_at
from tests.support.cli import fill
from tests.support.tables import create


def test_files_of_a_table_are_not_proposed_as_a_feed(tmp_path):
    table = create(tmp_path / "lake/orders")
    fill(table)
    [partition, *_] = [folder.name for folder in (tmp_path / "lake/orders").iterdir() if folder.name != ".hoodie"]
    look = f"To do: look at its rows with `hudi-services show rows --target-base-path {tmp_path}/lake/orders`"
    for folder, words in (
        ("lake/orders", "orders is a Hudi table"),
        (f"lake/orders/{partition}", f"{partition} lies in a Hudi table"),
    ):
        with pytest.raises(SourceError, match=words) as raised:
            look_at(str(tmp_path / folder), None, None)
        assert look in str(raised.value)
    with pytest.raises(SourceError, match=r"lake has Hudi tables below it\. Found: orders, whose"):
        look_at(str(tmp_path / "lake"), None, None)
    (tmp_path / "landing").mkdir()
    (tmp_path / "landing/a.csv").write_text("id,v\n1,x\n2,y\n")
    assert look_at(str(tmp_path / "landing"), None, None).rows == 2
