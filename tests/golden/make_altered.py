"""Makes tests/golden/tables/hudi-12altered.tar.xz with Apache Hudi 1.2.0: `python -m tests.golden.make_altered`.

Tables `cow`, `mor` (version 9), `mor6` (version 6), altered as tests/interop/altered.py says. `_expected.json` is what Hudi read
after each step: table -> step -> rows by their key, and the instant of the step.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from tests.interop import peer_env
from tests.interop.altered import steps
from tests.interop.peer import HudiPeer

TARGET = Path(__file__).parent / "tables" / "hudi-12altered.tar.xz"
TABLES = {"cow": ("cow", {}), "mor": ("mor", {}), "mor6": ("mor", {"hoodie.write.table.version": "6"})}


def make(peer: Any) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "12altered"
        expected: dict[str, Any] = {}
        for name, (kind, properties) in TABLES.items():
            for number in steps(peer, f"altered_{name}", str(folder / name), kind, **properties):
                found = peer.read(folder / name, **{"hoodie.schema.on.read.enable": "true"})
                rows = found.drop_columns([each for each in found.column_names if each.startswith("_hoodie_")])
                by_key = {row["id"]: row for row in rows.to_pylist()}
                instant = max(
                    path.name[:17]
                    for path in (folder / name / ".hoodie").rglob("*commit")
                    if ".schema" not in str(path)
                )
                expected.setdefault(name, []).append({"instant": instant, "rows": by_key, "columns": rows.column_names})
                assert number + 1 == len(expected[name])
        (folder / "_expected.json").write_text(json.dumps(expected, indent=1))
        for path in folder.rglob("*.crc"):
            path.unlink()
        with tarfile.open(TARGET, "w:xz") as archive:
            archive.add(folder, "12altered")


def main() -> None:
    peer_env.ensure()
    peer = HudiPeer("1.2.0")
    make(peer)
    peer.stop()


if __name__ == "__main__":
    main()
