"""Journals: the durable, ordered truth, one module per engine."""
