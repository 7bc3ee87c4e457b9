"""Operations: what the platform records and shows of tables and runs, and what it reports."""
