"""The command `bootstrap`."""

from __future__ import annotations

import json

import pytest

from hudi_services.cli.program import main
from tests.support.sources import TABLE, hive_source, put


@pytest.fixture
def command(tmp_path, capsys):
    hive_source(tmp_path / "source")
    flags = ["--target-base-path", str(tmp_path / "table"), "--source-path", str(tmp_path / "source")]
    flags += [flag for name, value in TABLE.items() for flag in ("--hoodie-conf", f"{name}={value}")]

    def call(*more):
        code = main(["bootstrap", *flags, *more])
        return code, capsys.readouterr()

    return call


def test_explain_then_run_then_again(command, tmp_path):
    code, said = command("--explain", "--json")
    plan = json.loads(said.out)
    assert (code, plan["rows"], plan["problems"], plan["layout"]) == (0, 9, [], "hive")
    assert not (tmp_path / "table").exists()
    code, said = command()
    assert code == 0
    assert "part=p2: 5 rows, checksum" in said.out
    assert "9 rows in 2 partitions have the checksums of the source" in said.out
    code, said = command("--json")
    result = json.loads(said.out)
    assert (code, result["instant"]) == (0, None)
    assert "already" in result["message"]


def test_preflight_fails_with_every_problem(command, tmp_path):
    put(tmp_path / "source", "part=p1/bad", ["x", None])
    put(tmp_path / "source", "part=p1/none", [])
    code, said = command("--step", "preflight")
    assert code == 1
    assert "is null in 1 files" in said.err
    assert "hold no rows" in said.err
    assert "note:" in said.out


def test_an_option_with_a_flag_is_given_once(command):
    code, said = command("--explain", "--hoodie-conf", "hoodie.bootstrap.base.path=/elsewhere")
    assert code == 2
    assert "flag" in said.err
