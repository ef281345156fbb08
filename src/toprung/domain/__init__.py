"""The rules of ranking: pure, synchronous, no I/O, no clock."""
