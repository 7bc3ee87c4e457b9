"""The Spark session, and Spark's requirements of this machine."""
