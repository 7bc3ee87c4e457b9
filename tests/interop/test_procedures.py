"""CALL beside Hudi 1.2.0: names, parameters, columns, and what both say of the same table."""

from __future__ import annotations

import pytest

from hoodie.sql import connect
from hoodie.sql.procedures.catalogue import ABSENT, PROCEDURES
from hoodie.sql.types import sql_type

pytestmark = pytest.mark.interop

TYPES = {"integer": "int", "long": "bigint"}
OF_ONE_COMMIT = ("show_commit_files", "show_commit_partitions", "show_commit_write_stats")
SAME = {  # and the columns that differ here, as docs/reference/procedures.md says
    "show_commits": {"total_errors"},
    "show_commits_metadata": {
        "total_errors",
        "total_log_blocks",
        "total_corrupt_log_blocks",
        "total_rollback_blocks",
        "total_log_records",
        "total_updated_records_compacted",
    },
    "show_commit_files": {"total_errors"},
    "show_commit_partitions": {"total_errors"},
    "show_commit_write_stats": set(),
    "show_commit_extra_metadata": set(),
    "show_rollbacks": set(),
    "show_savepoints": set(),
    "show_cleans": set(),
    "show_cleans_metadata": set(),
    "show_clean_plans": {"total_partitions_to_delete"},
    "show_table_properties": set(),
    "stats_wa": set(),
    "stats_file_sizes": set(),
}


def test_names(recorded):
    (told,) = recorded("hudi12").sql("call help")
    theirs = {
        line.split("\t")[1] for line in told["result"].splitlines() if line.startswith("\t") and "class org" in line
    }
    assert theirs | {"help"} == {*PROCEDURES, *ABSENT}


def test_parameters_and_columns(recorded):
    hudi, ours, theirs = recorded("hudi12"), {}, {}
    for name, procedure in sorted(PROCEDURES.items()):
        parameters = [
            (each.name, sql_type(each.kind).lower(), _shown(each.default), str(each.required).lower())
            for each in procedure.parameters
        ]
        ours[name] = parameters, [(each.name, sql_type(each.type).lower()) for each in procedure.result]
        (answer,) = hudi.sql(f"call help(cmd => '{name}')")
        taken, given = (part.splitlines()[2:] for part in answer["result"].split("outputType:"))
        theirs[name] = (
            [tuple(_words(line, 4)) for line in taken if line.strip()],
            [tuple(_words(line, 2)) for line in given if line.strip()],
        )
    assert ours == theirs


def _words(line, count):
    cells = [cell.strip() for cell in line.split("\t")[1:]][:count]
    return [cells[0], TYPES.get(cells[1], cells[1]), *("null" if cell == "None" else cell for cell in cells[2:])]


def _shown(default):
    return "null" if default is None else str(default).lower() if isinstance(default, bool) else str(default)


@pytest.mark.parametrize("kind", ["cow", "mor"])
def test_both_say_the_same_of_a_table(hudi12, tmp_path, kind):
    name, path = f"proc_{kind}_{tmp_path.name.replace('-', '_')}", tmp_path / "t"
    create = (
        f"create table {name} (id int, name string, price double, ts bigint, dt string) using hudi tblproperties "
        f"(type = '{kind}', primaryKey = 'id', preCombineField = 'ts', 'hoodie.metadata.enable' = 'false') "
        f"partitioned by (dt) location '{path}'"
    )
    for option in ("hoodie.metadata.enable", "hoodie.clean.automatic", "hoodie.compact.inline"):
        hudi12.sql(f"set {option}=false")
    hudi12.sql("set hoodie.parquet.small.file.limit=0")
    hudi12.sql(create)
    with connect(tmp_path / "lake") as db:
        hudi12.sql(f"insert into {name} values (1, 'a', 1, 1, 'x'), (2, 'b', 2, 1, 'x'), (3, 'c', 3, 1, 'y')")
        db.sql(f"create table {name} using hudi location '{path}'; set hoodie.clean.automatic=false")
        db.sql(f"update {name} set price = 5 where id = 1")
        hudi12.sql(f"refresh table {name}")
        hudi12.sql(f"update {name} set price = 6 where id = 1")
        db.sql(f"delete from {name} where id = 3; insert into {name} values (9, 'z', 1, 1, 'z')")
        db.sql(f"call rollback_to_instant('{name}', '{_newest(db, name)}'); call create_savepoint('{name}')")
        hudi12.sql(f"call run_clean(table => '{name}', retain_commits => 1)")
        db.sql(f"call delete_savepoint('{name}'); update {name} set price = 7 where id = 2")
        db.sql(f"call run_clean('{name}', retain_commits => 1)")
        for procedure, others in SAME.items():
            call = f"call {procedure}(table => '{name}', limit => 100)"
            if procedure in OF_ONE_COMMIT:
                call = f"call {procedure}(table => '{name}', limit => 100, instant_time => '{_newest(db, name)}')"
            if procedure == "show_savepoints":
                call = f"call {procedure}(table => '{name}')"
            assert _rows(db.sql(call).table.to_pylist(), others) == _rows(hudi12.sql(call), others), procedure


def _newest(db, name):
    return db.sql(f"call show_commits('{name}', 1)").rows()[0][0]


def _rows(found, others):
    """Java adds doubles up one by one, so the last digits of its deviations are its own."""

    def shown(value):
        return float(f"{value:.12g}") if isinstance(value, float) else value

    return sorted(repr(sorted((key, shown(value)) for key, value in row.items() if key not in others)) for row in found)
