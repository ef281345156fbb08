"""Who may write, what is checked, what waits, what is undone: rules and pure functions."""
