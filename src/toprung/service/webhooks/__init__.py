"""Webhooks: each is a follower of the journal, and what it finds leaves as effects.

`service` is what callers ask; `follower` finds out what a webhook has to be told, with `leaders`
for who leads which ladder and `walk` for all ladders one after the other; `messages` writes it
down, `sending` sends it; `book` knows the webhooks.
"""
