"""Formats of messages by name."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from hoodie.errors import ConfigError
from hudi_services.sources.cdc.messages.messages import message_format
from tests.support.recorded_messages import TABLE, avro_schemas, recorded


def test_a_format_has_a_name_and_parameters():
    assert message_format("debezium-json", table="shop.orders").table == "shop.orders"


def test_the_documented_example_runs(capsys):
    page = Path(__file__).parents[6] / "docs/reference/messages.md"
    exec(re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL)[1], {})
    change = "[{'op': 'i', 'number': 0, 'before': None, 'after': {'id': 1, 'name': 'first'}}]"
    assert capsys.readouterr().out == f"{change}\n() () {{}}\n"


def test_unknown_names_are_refused_with_near_ones():
    with pytest.raises(ConfigError, match="'debezum-json' is unknown") as caught:
        message_format("debezum-json")
    assert "use debezium-json" in str(caught.value)
    with pytest.raises(ConfigError, match="no parameter 'tabel'") as caught:
        message_format("debezium-json", tabel="x")
    assert "use table" in str(caught.value)


class Recorded:
    def schema(self, number: int) -> str | None:
        return avro_schemas().get(number)


@pytest.mark.parametrize("encoding", ["json", "bare", "avro"])
def test_part_of_a_batch_and_chunks_are_decoded_as_they_are(encoding):
    """Messages that are one array are not copied, so their place in it must not matter."""
    form = (
        message_format("debezium-avro", registry=Recorded()) if encoding == "avro" else message_format("debezium-json")
    )
    table = recorded("typed", encoding, TABLE)
    part = table.slice(1)
    expected = form.decode(pa.Table.from_pylist(part.to_pylist(), schema=part.schema), None)
    assert expected.changes.num_rows > 1
    for same in (part, pa.concat_tables([table.slice(1, 1), table.slice(2)])):
        decoded = form.decode(same, None)
        assert decoded.changes.equals(expected.changes)
        assert (decoded.rejected, decoded.ignored) == (expected.rejected, expected.ignored)
