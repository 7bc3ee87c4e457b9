"""`make test` and `make test-deep`: the suites in two lanes, their durations, and a clear end."""
