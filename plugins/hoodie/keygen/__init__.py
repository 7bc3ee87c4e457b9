"""Record keys and partition paths."""

from hoodie.config.table import TableProperties
from hoodie.keygen.partition_path import DEFAULT_PARTITION, PartitionPaths, escape_path_name
from hoodie.keygen.record_key import RecordKeys


def key_generator(properties: TableProperties) -> tuple[RecordKeys, PartitionPaths]:
    """The key generator that the table was created with. Raises UnsupportedTableError for one that is not supported."""
    kind = properties.keygen_type
    fields = properties.record_key_fields
    keys = RecordKeys(fields, with_names=kind == "COMPLEX" or len(fields) > 1)
    partition_fields = () if kind == "NON_PARTITION" else properties.partition_fields
    paths = PartitionPaths(partition_fields, properties.hive_style_partitioning, properties.url_encode_partitioning)
    return keys, paths


__all__ = ["DEFAULT_PARTITION", "PartitionPaths", "RecordKeys", "escape_path_name", "key_generator"]
