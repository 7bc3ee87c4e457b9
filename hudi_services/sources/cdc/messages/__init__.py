"""Messages of change data, as brokers hold them, decoded to Arrow."""
