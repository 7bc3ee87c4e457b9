"""Keys of the COMPLEX key generator with one column, as 0.14.1 to 1.0.2 wrote them."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hoodie.engine import LocalEngine
from hoodie.errors import UnsupportedTableError
from hoodie.index.complex_keys import bare_key
from tests.support.archive import archive_before
from tests.support.tables import batch, content, create

BUCKET = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}
ROWS = batch([("a", "p", 1, 1), ("b", "p", 1, 1)])


def of_complex_keys(path, *, upgraded=False):
    properties = path / ".hoodie" / "hoodie.properties"
    text = properties.read_text().replace("type=SIMPLE", "type=COMPLEX")
    properties.write_text(text.replace("initial.version=9", "initial.version=6") if upgraded else text)
    return HoodieTable.open(str(path), engine=LocalEngine(1))


@pytest.mark.parametrize(
    ("kind", "options"), [("COPY_ON_WRITE", {}), ("MERGE_ON_READ", {}), ("MERGE_ON_READ", BUCKET)], ids=str
)
def test_a_table_of_bare_keys_is_read_and_not_written(tmp_path, kind, options):
    create(tmp_path, **{"hoodie.table.type": kind}).write(ROWS, "upsert", options)
    table = of_complex_keys(tmp_path)
    for operation in ("upsert", "insert", "bulk_insert", "delete"):
        with pytest.raises(UnsupportedTableError, match="without the name of their column"):
            table.write(ROWS, operation, options)
    assert content(table) == {"a": ("p", 1, 1), "b": ("p", 1, 1)}
    (finding,) = table.diagnose().findings
    assert (finding.check, finding.found) == ("bare-keys", "key 'a'")
    table.write(ROWS, "insert_overwrite_table", options)
    table.write(ROWS, "upsert", options)
    assert len(content(table)) == 2


def test_bare_keys_of_commits_that_are_archived(tmp_path):
    """The commits that are left wrote no files."""
    table = create(tmp_path)
    table.write(ROWS, "upsert")
    for _ in range(3):
        table.write(batch([("none", "p", 1, 1)]), "delete")
    archive_before(table, table.timeline.commits[1].time)
    table = of_complex_keys(tmp_path)
    assert not any(table.state().commit_metadata(commit).stats for commit in table.timeline.commits)
    with pytest.raises(UnsupportedTableError, match="key 'a'"):
        table.write(ROWS, "upsert")


@pytest.mark.parametrize("operation", ["upsert", "insert", "delete"])
@pytest.mark.parametrize(
    ("kind", "options"), [("COPY_ON_WRITE", {}), ("MERGE_ON_READ", {}), ("MERGE_ON_READ", BUCKET)], ids=str
)
def test_bare_keys_behind_a_newer_file_of_keys_with_names(tmp_path, kind, options, operation):
    """As where releases took turns until an upgrade: the newest file does not show the older ones."""
    table = create(tmp_path, **{"hoodie.table.type": kind})
    table.write(ROWS, "upsert", options)
    table.write(batch([("id:c", "q", 1, 1)]), "upsert", options)
    table = of_complex_keys(tmp_path, upgraded=True)
    assert bare_key(table.state()) is None
    with pytest.raises(UnsupportedTableError, match="key 'a'"):
        table.write(ROWS, operation, options)
    (finding,) = table.diagnose().findings
    assert (finding.check, finding.found) == ("bare-keys", "key 'a'")
    table.write(batch([("d", "q", 1, 1)]), operation, options)
    assert {"a", "b"} < set(content(table))


@pytest.mark.parametrize("operation", ["upsert", "insert", "delete"])
def test_bare_keys_in_a_log_above_keys_with_names(tmp_path, operation):
    """A bucket index puts the row of a new key into a log of its file group."""
    one = {**BUCKET, "hoodie.bucket.index.num.buckets": "1"}
    table = create(tmp_path, **{"hoodie.table.type": "MERGE_ON_READ"})
    for key, partition in (("id:a", "p"), ("a", "p"), ("id:c", "q")):
        table.write(batch([(key, partition, 1, 1)]), "upsert", one)
    table = of_complex_keys(tmp_path, upgraded=True)
    with pytest.raises(UnsupportedTableError, match="key 'a'"):
        table.write(ROWS, operation, one)
    assert "bare-keys" in {finding.check for finding in table.diagnose().findings}


def test_a_table_of_keys_with_names_is_written_on(tmp_path):
    create(tmp_path)
    table = of_complex_keys(tmp_path)
    for _ in range(2):
        table.write(ROWS, "upsert")
    assert len(content(table)) == 2
    assert table.diagnose().findings == ()
