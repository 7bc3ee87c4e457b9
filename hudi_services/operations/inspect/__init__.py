"""Looking at a table: functions from its view to pages, and what prints these. Nothing here changes anything."""
