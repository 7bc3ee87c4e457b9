"""What each run of a service cost and gained: kept in a Hudi table of its own."""
