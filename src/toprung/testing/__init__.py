"""The testing kit: what Toprung's own tests stand on, shipped for anyone who extends it.

* `oracle`      slow, obviously correct models that re-sort a list for every question;
* `strategies`  Hypothesis strategies for ids, scores, times and records;
* `machine`     a rule-based state machine for anything index-shaped;
* `native`, `native_machine`  the same for the native core, with its own rules on top;
* `clock`       a clock that stands still until it is told to move.

All but `clock` and `oracle` need Hypothesis: pip install "toprung[testing]".
"""
