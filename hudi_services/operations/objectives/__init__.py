"""Whether tables are as the registry wants them: facts are gathered, a pure judge says what is missed and what mends it."""
