"""The client of a schema registry, against a small server."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hoodie.errors import ConfigError, SourceError, SourceUnavailableError
from hudi_services.sources.cdc.messages.registry import SchemaRegistry, inlined

SECRET = "pass:wörd"
MONEY = {"type": "record", "name": "Money", "namespace": "shop", "fields": [{"name": "cents", "type": "long"}]}
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "price", "type": "shop.Money"}, {"name": "paid", "type": ["null", "shop.Money"]}],
}


@pytest.fixture
def served():
    """Answers by path: a status, and an object or the address of a redirect. A list of answers is used up."""
    answers: dict[str, object] = {}
    asked: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers.get("Authorization")))
            answer = answers.get(self.path, (404, {"error_code": 40403}))
            status, content = answer.pop(0) if isinstance(answer, list) else answer
            self.send_response(status)
            if isinstance(content, str):
                self.send_header("Location", content)
            self.end_headers()
            if not isinstance(content, str):
                self.wfile.write(json.dumps(content).encode())

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", answers, asked
    server.shutdown()
    server.server_close()


def registry(url: str, **more) -> SchemaRegistry:
    return SchemaRegistry(url, pause=0.001, timeout=2, **more)


def test_a_schema_is_asked_for_once(served):
    url, answers, asked = served
    answers["/schemas/ids/1"] = (200, {"schema": '"int"'})
    client = registry(url + "/", user="u", password=SECRET)
    assert [client.schema(1), client.schema(1), client.schema(2), client.schema(2)] == ['"int"', '"int"', None, None]
    assert [path for path, _ in asked] == ["/schemas/ids/1", "/schemas/ids/2"]
    assert asked[0][1] == "Basic dTpwYXNzOnfDtnJk"
    assert SECRET not in repr(client)
    registry(url).schema(1)
    assert asked[-1][1] is None


def test_schemas_that_others_refer_to_are_inside(served):
    url, answers, _ = served
    reference = {"name": "shop.Money", "subject": "money/value", "version": 3}
    answers["/schemas/ids/1"] = (200, {"schema": json.dumps(ORDER), "references": [reference]})
    with pytest.raises(SourceError, match="lacks a schema that another refers to"):
        registry(url).schema(1)
    answers["/subjects/money%2Fvalue/versions/3"] = (200, {"schema": json.dumps(MONEY)})
    found = json.loads(registry(url).schema(1))
    assert found["fields"] == [{"name": "price", "type": MONEY}, {"name": "paid", "type": ["null", "shop.Money"]}]


def test_names_are_replaced_where_a_type_stands_only():
    schema = {"type": "record", "name": "shop.Money", "doc": "shop.Money", "fields": []}
    assert json.loads(inlined(json.dumps(schema), {"shop.Money": MONEY})) == schema


def test_a_server_that_fails_is_asked_again_and_refusals_are_named(served):
    url, answers, asked = served
    answers["/schemas/ids/1"] = [(500, {}), (503, {}), (200, {"schema": '"int"'})]
    assert registry(url).schema(1) == '"int"'
    answers["/schemas/ids/2"] = (500, {})
    with pytest.raises(SourceUnavailableError, match="does not answer"):
        registry(url).schema(2)
    asked.clear()
    answers["/schemas/ids/3"] = (401, {})
    with pytest.raises(SourceError, match="refused to answer") as caught:
        registry(url, user="u", password=SECRET).schema(3)
    assert len(asked) == 1
    assert SECRET not in str(caught.value)
    answers["/schemas/ids/4"] = (200, {"schema": "x", "schemaType": "PROTOBUF"})
    with pytest.raises(SourceError, match="no Avro"):
        registry(url).schema(4)


def test_a_password_is_not_sent_elsewhere(served):
    url, answers, asked = served
    answers["/schemas/ids/1"] = (302, url + "/other")
    with pytest.raises(SourceError, match="refused to answer"):
        registry(url, user="u", password=SECRET).schema(1)
    assert [path for path, _ in asked] == ["/schemas/ids/1"]


def test_a_server_that_is_away_is_unavailable():
    with pytest.raises(SourceUnavailableError, match=r"http://127.0.0.1:1 does not answer"):
        registry("http://127.0.0.1:1").schema(1)


@pytest.mark.parametrize("url", ["ftp://x", "x", "https://u:geheim@x"])
def test_urls_that_cannot_be_used(url):
    with pytest.raises(ConfigError, match="URL of the schema registry") as caught:
        SchemaRegistry(url)
    assert "geheim" not in str(caught.value)
