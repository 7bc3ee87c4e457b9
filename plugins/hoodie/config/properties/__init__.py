"""The properties of a table: `hoodie.properties` as typed values."""
