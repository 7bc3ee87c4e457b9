"""Bodies of the metadata files: one module an action. Names of Avro and JSON fields stay in here."""
