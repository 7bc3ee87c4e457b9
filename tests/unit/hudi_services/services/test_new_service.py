"""One more entry is one more subcommand and one more section of the registry, without any other change."""

from __future__ import annotations

import json
import re

import pytest

from hudi_services.cli.program import main, program
from hudi_services.registry.load import read_registry
from tests.support.new_service import EXPIRE, WITH_EXPIRE, Expire, entry

GROUP = program(WITH_EXPIRE)
TABLE = """\
tables:
  - name: t
    base_path: /t
    keys: {record_key: id, partition_by: day}
"""


def expire(*flags: str) -> int:
    return main(["expire", "--target-base-path=/t", *flags], GROUP)


def test_it_is_a_command_with_its_own_flags_and_those_of_all(capsys):
    assert main(["--help"], GROUP) == 0
    assert "Drop old partitions." in capsys.readouterr().out
    assert main(["expire", "--help"], GROUP) == 0
    said = capsys.readouterr().out
    assert "--days" in said
    assert "--hoodie-conf KEY=VALUE" in said
    assert expire("--days=0") == 2
    assert main(["expire", "--target-base-path=/t"]) == 2, "the program without the entry does not know it"


def test_it_explains_as_text_and_as_json(capsys):
    assert expire("--explain", "--days=5") == 0
    *said, named, would = capsys.readouterr().out.splitlines()
    assert said == ["expire: 1 partition is old", "              10 bytes  day=1  older than 5 days"]
    assert re.fullmatch("plan [0-9a-f]{12}", named)
    assert would == "would expire 1 partition, 10 bytes; nothing was changed"
    assert expire("--explain", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert re.fullmatch("[0-9a-f]{12}", shown.pop("digest"))
    assert shown == {
        "service": "expire",
        "reason": "1 partition is old",
        "days": 30,
        "bytes": 10,
        "files": [{"path": "day=1", "bytes": 10, "reason": "older than 30 days"}],
        "verb": "expire",
        "noun": "partition",
    }


def test_it_runs_with_its_options_and_leaves_a_result(capsys, tmp_path):
    retained = "--hoodie-conf=hoodie.clean.commits.retained=3"
    assert expire(retained, f"--result-path={tmp_path}/r.json") == 0
    said = capsys.readouterr().out
    assert said.startswith("looking\nexpire: 30 days, ['hoodie.clean.commits.retained'] (0.0 s)")
    assert json.loads((tmp_path / "r.json").read_text())["files_deleted"] == 1
    assert expire("--json") == 0
    assert json.loads(capsys.readouterr().out)["instant"] == "1", "programs get nothing but the result"
    assert expire("--hoodie-conf=hoodie.clean.comits.retained=3") == 2


def test_only_a_service_with_a_spark_application_runs_on_spark(capsys):
    worker = program((entry(None),))
    assert main(["expire", "--target-base-path=/t", "--engine=spark"], worker) == 2
    assert "expire does not run on Spark" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("section", "line", "key", "message"),
    [
        ("{days: 0}", 5, "t.expire.days", "greater than or equal to 1"),
        ("{dais: 1}", 5, "t.expire.dais", "did you mean 'days'?"),
        ("{schedule: x}", 5, "t.expire.schedule", "no cron schedule"),
        ("{archive: '${NOWHERE}'}", 5, "t.expire.archive", "environment variable NOWHERE is not set"),
        (
            "{hoodie: {hoodie.clean.policy: x}}",
            5,
            "t.expire.hoodie.hoodie.clean.policy",
            "set by the key 'expire.days'",
        ),
        ("{hoodie: {hoodie.bloom.index.num_entries: 1}}", 5, "t.expire.hoodie.hoodie.bloom", "'ingest.hoodie' or"),
        ("{}\n    keys: {record_key: id}", 5, "t.expire", "no effect on a table without partitions"),
    ],
)
def test_its_section_is_checked(tmp_path, section, line, key, message):
    text = TABLE.replace("    keys: {record_key: id, partition_by: day}\n", "") if "keys" in section else TABLE
    file = tmp_path / "tables.yaml"
    file.write_text(f"{text}    expire: {section}\n")
    reading = read_registry(file, {}, entries=WITH_EXPIRE)
    [mistake] = reading.mistakes
    assert message in mistake.message
    assert mistake.key.startswith(key)
    assert mistake.line == (4 if "keys" in section else line)
    [unknown] = read_registry(file, {}).mistakes
    assert unknown.key == "t.expire"
    assert "is not an option" in unknown.message


def test_its_section_has_defaults_that_lie_under_each_table(tmp_path):
    file = tmp_path / "tables.yaml"
    file.write_text(
        f"defaults: {{expire: {{hoodie: {{hoodie.clean.commits.retained: 3}}}}}}\n{TABLE}    expire: {{days: 9}}\n"
    )
    [table] = read_registry(file, {}, entries=WITH_EXPIRE).registry.tables
    assert EXPIRE.section_of(table) == Expire(days=9, hoodie={"hoodie.clean.commits.retained": "3"})
    file.write_text(TABLE)
    [table] = read_registry(file, {}, entries=WITH_EXPIRE).registry.tables
    assert EXPIRE.section_of(table) is None
    assert not EXPIRE.has_dag(table)
