"""Waiting and taking turns: how coroutines go on, with an event loop or without one.

`pending` is a result that another thread will deliver; `blocking` drives a coroutine without an
event loop; `inbox` is where results arrive for coroutines that are driven by hand in one; `tasks`
begins and ends work that runs beside other work; `pace` cuts long work into slices.
"""
