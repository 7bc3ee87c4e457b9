"""Options: where they come from and which are refused."""

from __future__ import annotations

import pytest

from hoodie import HoodieTable
from hudi_services.cli.program import main
from tests.support.cli import DONE, USAGE, clean, everything, ingest, said


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--hoodie-conf=hoodie.clean.commit.retained=3"], "did you mean 'hoodie.clean.commits.retained'?"),
        (["--hoodie-conf=hoodie.nonsense.indeed=3"], "'hoodie.nonsense.indeed' is not known"),
        (["--hoodie-conf=hoodie.parquet.max.file.size=big"], "give a whole number, 1 or more"),
        (["--hoodie-conf=hoodie.datasource.write.recordkey.field=other"], "contradict each other"),
        (["--from=2024-01-02", "--to=2024-01-02", "--source-date-pattern=dt=%Y-%m-%d"], "date range is empty"),
        (["--from=2024-01-03", "--to=2024-01-02", "--source-date-pattern=dt=%Y-%m-%d"], "date range is empty"),
        (["--from=2024-01-03"], "needs a date pattern"),
        (["--source-date-pattern=%Y"], "names no day"),
        (["--create-table-version=6", "--hoodie-conf=hoodie.write.table.version=9"], "contradicts another option"),
    ],
)
@pytest.mark.parametrize("explain", [[], ["--explain"]])
def test_options_that_cannot_be_are_refused_before_anything_is_made(tmp_path, land, flags, message, explain, capsys):
    before = everything(tmp_path)
    assert ingest(tmp_path / "trips", land, *flags, *explain) == USAGE
    assert message in said(capsys)
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("hoodie.table.recordkey.fields=value", "the table has 'id'"),
        ("hoodie.table.name=other", "the table has 'trips'"),
        ("hoodie.write.table.version=6", "the table has '9'"),
        ("hoodie.record.merge.mode=COMMIT_TIME_ORDERING", "the table has 'EVENT_TIME_ORDERING'"),
    ],
)
def test_options_that_contradict_the_table_are_refused(path, land, option, message, capsys):
    before = everything(path)
    assert ingest(path, land, f"--hoodie-conf={option}") == USAGE
    assert message in said(capsys)
    assert everything(path) == before


def test_flags_win_over_the_properties_file(tmp_path, land, capsys):
    props = tmp_path / "table.properties"
    props.write_text(
        "# a comment\nhoodie.table.name : from_file\nhoodie.table.recordkey.fields=id\n"
        "hoodie.table.partition.fields = \\\n   part\nhoodie.database.name=gr\\u00fc\\u00dfe\n"
    )
    path = tmp_path / "trips"
    arguments = ["ingest", f"--target-base-path={path}", f"--source-path={land}", f"--props={props}"]
    assert main([*arguments, "--hoodie-conf=hoodie.table.name = from = flag "]) == DONE
    properties = HoodieTable.open(str(path)).properties
    assert properties.name == "from = flag"
    assert properties.partition_fields == ("part",)
    assert properties.raw["hoodie.database.name"] == "grüße"


def test_a_properties_file_with_a_broken_escape_is_named(path, tmp_path, capsys):
    props = tmp_path / "table.properties"
    props.write_text("hoodie.table.name=\\u12")
    assert clean(path, f"--props={props}") == USAGE
    assert f"{props} cannot be read" in said(capsys)


def test_one_properties_file_serves_every_service(path, land, tmp_path):
    props = tmp_path / "all.properties"
    props.write_text("hoodie.clean.commits.retained=1\nhoodie.bloom.index.num_entries=100\nhoodie.table.name=trips")
    assert main(["clean", f"--target-base-path={path}", f"--props={props}"]) == DONE
    assert main(["ingest", f"--target-base-path={path}", f"--props={props}", f"--source-path={land}"]) == DONE
