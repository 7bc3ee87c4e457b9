"""Checks of a load on the overview of its table."""

from __future__ import annotations

from hoodie.clock import SystemClock
from hudi_services.cli.program import main
from hudi_services.entry.table_choice import ChosenTable
from hudi_services.entry.target import Target
from hudi_services.operations.advice.overview_facts import overview_facts
from hudi_services.operations.inspect.overview import overview
from hudi_services.operations.inspect.table_look import look_at


def test_the_newest_checked_load_is_shown_and_advised(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("id,v\n1,-5\n")
    (tmp_path / "tables.yaml").write_text(
        f"tables: [{{name: t, base_path: {tmp_path}/t, keys: {{record_key: id}}, source: {{path: {tmp_path}/in, format: csv, "
        'expect: {v: ">= 0", on_failure: warn}}}]\n'
    )
    where = ["--registry", str(tmp_path / "tables.yaml"), "--table", "t"]
    assert main(["ingest", *where]) == 0
    capsys.readouterr()
    look = look_at(ChosenTable(f"{tmp_path}/t", None), SystemClock())
    shown = overview(look).values
    assert (shown["checks"]["failed"], len(shown["checks"]["results"])) == (1, 1)
    facts = overview_facts("t", Target.of(f"{tmp_path}/t", "t"), shown, look.now)
    assert facts.failed_checks.text == "1 of 1 check failed: expected v >= 0: 1 of 1 row breaks it, such as -5"
    assert main(["show", "table", *where]) == 0
    said = capsys.readouterr().out
    assert "checks          1 of 1 check failed: expected v >= 0" in said
    assert "The newest load broke expectations of its data" in said
