"""Profiles: adapters wired into a working whole. The only place that knows them all."""
