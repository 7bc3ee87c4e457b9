"""How a run ended, as people and programs get it."""
