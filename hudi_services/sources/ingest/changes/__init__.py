"""Another Hudi table as a source of ingestions: its rows once, then its changes."""
