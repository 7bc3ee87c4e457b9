"""Schemas: Avro <-> Arrow, evolution."""

from hoodie.schema.avro import arrow_to_avro, avro_to_arrow
from hoodie.schema.conform import conform
from hoodie.schema.evolution import reconcile
from hoodie.schema.field_paths import column_of, find_field, find_fields, top_level, values_of
from hoodie.schema.meta import META_FIELDS, data_columns, with_meta_columns
from hoodie.schema.normalise import normalise
from hoodie.schema.ordering import check_ordering

__all__ = [
    "META_FIELDS",
    "arrow_to_avro",
    "avro_to_arrow",
    "check_ordering",
    "column_of",
    "conform",
    "data_columns",
    "find_field",
    "find_fields",
    "normalise",
    "reconcile",
    "top_level",
    "values_of",
    "with_meta_columns",
]
