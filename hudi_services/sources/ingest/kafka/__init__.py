"""A topic of Kafka as a source of ingestions: messages by ranges of offsets, which the commits of the table remember."""
