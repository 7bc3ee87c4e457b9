"""A pipeline in place of a registry."""

from __future__ import annotations

import json

import pytest

from hoodie.errors import ConfigError
from hudi_services.registry.pipeline_registry import declared_by_pipeline

PIPELINE = r"""
source: {type: mysql, hostname: db, port: 3307, username: lake, password: 'pa:55@word', tables: 'b1.\.*', server-id: 7}
sink: {type: hudi, path: /lake}
pipeline: {parallelism: 4}
"""


def test_the_password_is_in_the_environment_of_the_result_only(tmp_path):
    file = tmp_path / "pipeline.yaml"
    file.write_text(PIPELINE)
    declared = declared_by_pipeline("shop", file, {"HOME": "/root"})
    server = declared.reading.registry.servers["shop"]
    assert (server.state, server.server_id, server.tls) == ("/lake/.servers", 7, "verify")
    assert [rule.server for rule in declared.reading.registry.databases] == ["shop"]
    connection = json.loads(declared.environ["AIRFLOW_CONN_PIPELINE"])
    assert connection == {"conn_type": "mysql", "host": "db", "port": 3307, "login": "lake", "password": "pa:55@word"}
    assert "pa:55@word" not in repr(declared.reading)
    for name in ("..", "a/b", ""):
        with pytest.raises(ConfigError, match="not a name of a server"):
            declared_by_pipeline(name, file, {})
    file.write_text(PIPELINE.replace("type: hudi", "type: doris") + "\nflow: 1")
    with pytest.raises(ConfigError, match="2 options of the pipeline") as caught:
        declared_by_pipeline("shop", file, {})
    assert ":3: sink.type: has to be hudi" in str(caught.value)
    assert ":6: flow: is not an option" in str(caught.value)
