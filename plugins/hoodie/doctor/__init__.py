"""What is wrong with a table, and what helps: facts are gathered once, each check judges them (docs/how-to/doctor.md)."""
