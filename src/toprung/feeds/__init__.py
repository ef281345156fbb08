"""Feeds: news of changes, one module per way they travel."""
