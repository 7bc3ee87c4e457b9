"""The binlog of a server: its events, decoded to Arrow."""
