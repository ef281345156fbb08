"""Live: standings that are sent as they change, over WebSockets and server-sent events.

Theory of operation. Nothing is queued. A *topic* is one ladder that somebody watches; it knows
its version, and encodes what all its watchers share once per version. The *hub* looks at all
topics when the feed tells of changes, at most ten times a second, and wakes the *subscriptions* to
those that changed. A *watcher* (one connection) then asks for a *turn*, and when it has one it
sends, for each of its subscriptions, what is true by then and was not sent before. So a slow
reader costs one message in flight and simply gets a newer snapshot later; it holds up nobody and
nothing grows. Turns are short and callers have them in rotation, so that neither a thousand
watchers nor a flood of messages keeps others waiting. *Limits* bound how much of all this there is,
in all and of one caller.
"""
