"""Keys of commit metadata by which later runs find their place. A rename of a module must not change them."""

from hudi_services.sources.cdc import column_expressions, masks, row_filter
from hudi_services.sources.cdc.mysql import log_identity
from hudi_services.sources.ingest import quarantine, target
from hudi_services.sources.ingest.changes import position as changes
from hudi_services.sources.ingest.expectations import results
from hudi_services.sources.ingest.files import checkpoint
from hudi_services.sources.ingest.kafka import position as kafka


def test_keys_in_commits_of_earlier_releases_are_those_of_this_one() -> None:
    assert masks.KEY == "hudi_services.cdc.masks"
    assert column_expressions.KEY == "hudi_services.cdc.added_columns"
    assert row_filter.KEY == "hudi_services.cdc.filter"
    assert log_identity.KEY == "hudi_services.cdc.mysql.position"
    assert changes.KEY == "hudi_services.stream.position"
    assert kafka.KEY == "hudi_services.kafka.position"
    assert checkpoint.KEY == "hudi_services.checkpoint"
    assert results.KEY == "hudi_services.checks"
    assert quarantine.EXTRA == "hudi_services.quarantine"
    assert target.FIRST_LOAD == {"hudi_services.created.by": "ingest"}
