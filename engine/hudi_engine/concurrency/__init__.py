"""Who may change a table now: locks, heartbeats, instant times."""
