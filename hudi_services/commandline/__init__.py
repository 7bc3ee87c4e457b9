"""What the commands are made of: their flags, the options they are given, and the lines they print while they run."""
