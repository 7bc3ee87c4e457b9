"""The commands of `consumer`."""

from __future__ import annotations

import json

import pytest

from hudi_services.cli.program import main
from tests.support.changes import write
from tests.support.clock import FakeClock
from tests.support.tables import create


def test_consumers_are_moved_and_deleted(tmp_path, capsys):
    table = create(tmp_path / "t", FakeClock())
    times = [write(table, [("a", "p", n, n)]) for n in range(3)]
    place = ["--target-base-path", str(tmp_path / "t")]
    for to, position in (
        ("latest", times[2]),
        (times[0], times[0]),
        ("2026-01-01T12:00", times[2]),
        ("earliest", None),
    ):
        assert main(["consumer", "reset", "a b", "--to", to, "--json", *place]) == 0
        assert json.loads(capsys.readouterr().out) == {"consumer": "a b", "position": position}
        assert table.consumer("a b").position == position
    assert main(["consumer", "reset", "a b", "--to", "earliest", *place]) == 0
    assert main(["show", "consumers", *place]) == 0
    assert main(["consumer", "delete", "a b", *place]) == 0
    assert main(["consumer", "delete", "a b", "--json", *place]) == 0
    out = capsys.readouterr().out
    for words in ("goes on from the first commit", "commits behind", "deleted consumer 'a b'", '"deleted": null'):
        assert words in out


@pytest.mark.parametrize(("name", "to"), [("x", "soon"), ("", "latest")])
def test_mistakes_are_refused(tmp_path, name, to):
    create(tmp_path / "t", FakeClock())
    assert main(["consumer", "reset", name, "--to", to, "--target-base-path", str(tmp_path / "t")]) in (1, 2)
