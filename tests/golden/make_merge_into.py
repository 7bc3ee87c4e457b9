"""Makes tests/golden/tables/hudi-12merge.tar.xz with Apache Hudi 1.2.0: `python -m tests.golden.make_merge_into`.

Tables `event` (Parquet blocks) and `commit` (Avro blocks) of version 9: the history of tests/interop/merge_into.py.
`_expected.json` is what Hudi read: table -> {id: [name, price, ts]}.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from pathlib import Path

from tests.interop import peer_env
from tests.interop.merge_into import COMMIT, EVENT, MergeTable
from tests.interop.peer import HudiPeer

TARGET = Path(__file__).parent / "tables" / "hudi-12merge.tar.xz"


def main() -> None:
    peer_env.ensure()
    peer = HudiPeer("1.2.0")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "12merge"
        expected = {}
        for name, mode, kind in (("event", EVENT, "parquet"), ("commit", COMMIT, "avro")):
            table = MergeTable(peer, name, str(folder / name), "9", mode, kind)
            table.create()
            for _ in table.history():
                pass
            found = peer.read(folder / name, **{"hoodie.metadata.enable": "false"}).to_pylist()
            expected[name] = {row["id"]: [row["name"], row["price"], row["ts"]] for row in found}
        (folder / "_expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True))
        with tarfile.open(TARGET, "w:xz") as archive:
            archive.add(folder, "12merge")
    peer.stop()


if __name__ == "__main__":
    main()
