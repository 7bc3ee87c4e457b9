"""Tables that a person has paused: no service of this platform runs on them until somebody resumes them."""
