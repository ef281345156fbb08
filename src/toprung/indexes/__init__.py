"""Indexes: the disposable order of every ladder, one module per engine."""
