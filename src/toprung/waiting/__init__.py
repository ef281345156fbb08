"""Waiting and taking turns: how coroutines go on, with an event loop or without one.

`pending` is a result that another thread will deliver; `blocking` drives a coroutine without an
event loop; `light_tasks` run in one without a task of asyncio, and their results arrive in an
`inbox`; `tasks` begins and ends work beside other work; `pace` cuts long work into slices.
"""
