"""The command `cdc cuts` without a cut. Cuts of a server are listed in test_registered.py."""

from __future__ import annotations

import json

from hudi_services.cli.program import main
from tests.support.cli import DONE


def test_a_server_without_cuts_says_how_to_get_one(tmp_path, capsys):
    file = tmp_path / "tables.yaml"
    file.write_text(f"servers:\n  shop: {{type: mysql, connection: c, server_id: 7, state: {tmp_path}/state}}\n")
    assert main(["cdc", "cuts", "shop", "--registry", str(file)]) == DONE
    assert "hudi-services cdc sync" in capsys.readouterr().out
    assert main(["cdc", "cuts", "shop", "--registry", str(file), "--json"]) == DONE
    assert json.loads(capsys.readouterr().out) == {"server": "shop", "cuts": []}
