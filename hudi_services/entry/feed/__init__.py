"""How the files of a feed are read and shaped: what users declare, without Arrow."""
