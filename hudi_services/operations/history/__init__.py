"""The history of runs: costs and gains of each run of a service, kept in a Hudi table of its own."""
