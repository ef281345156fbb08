"""Toprung: exact, fair, fast and durable leaderboards."""
