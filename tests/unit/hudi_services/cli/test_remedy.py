"""Commands in the remedy of an error name the table of the failed command."""

from __future__ import annotations

import pytest

from hoodie.errors import ConfigError
from hudi_services.cli.program import cli, main
from hudi_services.cli.remedy import name_table, typed
from tests.support.registered import registered
from tests.support.tables import batch, create


def remedy(fix, *argv):
    error = ConfigError("It is wrong", fix=fix)
    name_table(error, argv, cli)
    assert str(error) == f"It is wrong. To do: {error.fix}."
    return error.fix


@pytest.mark.parametrize(
    ("argv", "flags"),
    [
        (["clean", "--table", "orders"], "--table orders"),
        (["clean", "--table=my orders"], "--table 'my orders'"),
        (["clean", "--registry", "r.yaml", "--table", "a"], "--table a --registry r.yaml"),
        (["clean", "--target-base-path=/lake/a"], "--target-base-path /lake/a"),
    ],
)
def test_a_command_gets_the_table_that_was_typed(argv, flags):
    assert (
        remedy("run `hudi-services show commits`, or look", *argv)
        == f"run `hudi-services show commits {flags}`, or look"
    )


@pytest.mark.parametrize(
    "command", ["options clean", "bootstrap", "registry check", "doctor --table b", "none", "show"]
)
def test_a_command_that_takes_no_table_or_has_one_stays(command):
    fix = f"run `hudi-services {command}`"
    assert remedy(fix, "clean", "--table", "a") == fix
    assert remedy("run `hudi-services resume`", "registry", "check") == "run `hudi-services resume`"


def test_a_flag_that_is_typed_twice_names_no_table():
    assert typed(["cdc", "--table", "a", "--table=b"], "--table") is None


def test_the_remedies_of_errors_and_of_the_doctor_can_be_pasted(tmp_path, capsys):
    create(tmp_path / "orders")
    file = registered(tmp_path, {"name": "orders", "keys": {"record_key": ["id"]}})
    flags = ["--table", "orders", "--registry", str(file)]
    assert main(["pause", "--reason", "a move", *flags]) == 0
    assert main(["clean", *flags]) == 1
    pasted = f"hudi-services resume --table orders --registry {file}"
    assert f"To do: wait, or end it with `{pasted}`." in capsys.readouterr().err
    (tmp_path / "orders/.hoodie/timeline/20260101000000000.inflight").touch()
    main(["doctor", *flags])
    assert f"$ hudi-services doctor --fix --table orders --registry {file}\n" in capsys.readouterr().out


def test_the_lines_of_a_page_can_be_pasted(tmp_path, capsys):
    table = create(tmp_path / "orders")
    table.write(batch([("a", "p", 1, 1)]))
    table.savepoint()
    for _ in range(3):
        table.write(batch([("a", "p", 1, 1)]))
    clean = {"hoodie": {"hoodie.clean.commits.retained": 1}}
    registered(tmp_path, {"name": "orders", "keys": {"record_key": ["id"]}, "clean": clean})
    assert main(["show", "table", "--table=orders", f"--registry={tmp_path}/tables.yaml"]) == 0
    held = capsys.readouterr().out.partition("\nheld back\n")[2]
    assert f" --table orders --registry {tmp_path}/tables.yaml`" in held
