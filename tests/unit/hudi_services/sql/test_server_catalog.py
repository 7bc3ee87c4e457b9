"""Catalogs that statements create, without a secret in any of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hoodie.errors import HoodieError
from hudi_services.registry.load import read_registry
from hudi_services.sql.replication import CreateCatalog
from hudi_services.sql.server_catalog import created_catalog, state_folder


def test_a_server_is_declared_or_named(tmp_path):
    made = created_catalog(
        CreateCatalog("shop", False, {"type": "mysql", "connection": "c", "server-id": "7", "tls": "off"}), None
    )
    assert (made.name, made.server.server_id, made.server.tls, made.is_registered) == ("shop", 7, "off", False)
    file = tmp_path / "tables.yaml"
    file.write_text("servers:\n  bench: {type: mysql, connection: c, server_id: 9}\n")
    made = created_catalog(CreateCatalog("x", False, {"type": "mysql", "server": "bench"}), read_registry(file))
    assert (made.name, made.server.server_id, made.is_registered) == ("bench", 9, True)
    lake = created_catalog(CreateCatalog("lake", False, {"type": "hudi", "warehouse": str(tmp_path)}), None)
    assert lake.catalog.place_of("d") == f"{tmp_path}/d.db"
    lake = created_catalog(CreateCatalog("lake", False, {"type": "hudi", "metastore": "thrift://m:1"}), None)
    assert (lake.catalog.path, lake.warehouse) == ("metastore thrift://m:1", None)
    with pytest.raises(HoodieError, match="has no folder of states"):
        state_folder(made, lake)
    assert state_folder(made, replace(lake, warehouse=str(tmp_path))).base_path == f"{tmp_path}/.servers"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "'type'='mysql'"),
        ({"type": "hudi"}, "'warehouse'"),
        ({"type": "hudi", "warehouse": "/x", "z": "1"}, "'z'"),
        ({"type": "hudi", "metastore": "thrift://m:1", "z": "1"}, "'z'"),
        ({"type": "mysql", "hostname": "h", "password": "planted"}, "AIRFLOW_CONN_"),
        ({"type": "mysql", "connection": "mysql://u:planted@h"}, "'connection'"),
        ({"type": "mysql", "connection": "c"}, "'server-id' is missing"),
        ({"type": "mysql", "connection": "c", "server-id": "planted"}, "'server-id'"),
        ({"type": "mysql", "connection": "c", "user": "u"}, "'user'"),
        ({"type": "mysql", "server": "shop"}, "--registry"),
    ],
)
def test_other_options_are_refused_by_name_and_without_their_values(options, words):
    with pytest.raises(HoodieError) as error:
        created_catalog(CreateCatalog("shop", False, options), None)
    assert words in str(error.value)
    assert "planted" not in str(error.value)
