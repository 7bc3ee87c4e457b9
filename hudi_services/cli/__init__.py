"""The command line: the program, its commands, and the flags, options and lines that commands share."""
