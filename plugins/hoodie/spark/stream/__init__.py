"""Tables as streams of Spark Structured Streaming."""
