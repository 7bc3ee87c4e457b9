"""The same work on this project and on Apache Hudi's bundle, in one run."""
