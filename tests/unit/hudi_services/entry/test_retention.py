"""The options with which a table's services go about it."""

from __future__ import annotations

from hudi_services.entry.dag import RunRequest
from hudi_services.entry.retention import options_of
from hudi_services.registry.load import load_registry
from hudi_services.services.entries import ENTRIES

ENTRY = """\
tables:
  - name: t
    base_path: /lake/t
    type: MERGE_ON_READ
    hoodie: {hoodie.write.lock.wait_time_ms: 7}
    clean: {hoodie: {hoodie.cleaner.commits.retained: 3}}
    compact: {after_ingests: 2}
"""


def one_table(folder, text):
    (folder / "tables.yaml").write_text(text)
    (table,) = load_registry(folder / "tables.yaml").tables
    return table


def test_what_show_and_doctor_go_by_is_what_the_services_are_called_with(tmp_path):
    table = one_table(tmp_path, ENTRY + "    archive: {hoodie: {hoodie.keep.min.commits: 5}}\n")
    for entry in ENTRIES:
        if entry.name in ("clean", "compact", "archive"):
            assert options_of(table, entry.name) == entry.called_with(table, RunRequest()).options


def test_an_archiver_without_a_section_leaves_the_others_what_they_need(tmp_path):
    assert options_of(one_table(tmp_path, ENTRY), "archive") == {
        "hoodie.cleaner.commits.retained": "3",
        "hoodie.compact.inline.max.delta.commits": "2",
        "hoodie.write.lock.wait_time_ms": "7",
    }
