"""The command `options`."""

from __future__ import annotations

import json

import pytest

from hoodie.config.catalogue import catalogue
from hudi_services.cli.program import main
from tests.support.cli import DONE


def shown(capsys, *arguments):
    assert main(["options", *arguments]) == DONE
    return capsys.readouterr().out


def test_the_honoured_ones_with_defaults_of_both(capsys):
    text = shown(capsys)
    assert "hoodie.clean.automatic=false [Hudi: true]" in text
    assert "hoodie.bootstrap.mode.selector.regex=.*\n" in text, "of bootstraps, too"
    assert "hoodie.merge.use.record.positions=true\n" in text, "and of reads"
    assert "hoodie.metrics.on" not in text
    assert "--all prints them" in text


def test_all_of_hudis_are_known(capsys):
    lines = json.loads(shown(capsys, "--all", "--json"))
    names = {name for line in lines for name in (line["key"], *line["aliases"])}
    assert names >= set(catalogue())
    assert {line["verdict"] for line in lines} == {"honoured", "without effect", "refused"}
    for line in lines:
        assert line["meaning"]
        assert (line["reason"] is None) == (line["verdict"] == "honoured")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("base.file.format", "refused by"),
        ("hoodie.metrics.o?", "without effect: no metrics are sent"),
        ("deltastreamer.source.dfs.root", "honoured by ingest"),
        ("nothing.of.hudi", "no option of Hudi's, nor of this program, has 'nothing.of.hudi' in its name"),
    ],
)
def test_one_is_found_by_a_part_of_its_name_or_a_glob(capsys, pattern, said):
    assert said in shown(capsys, pattern)
