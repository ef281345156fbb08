"""The testing kit: what Toprung's own tests stand on, shipped for anyone who extends it.

* `oracle`      slow, obviously correct models that re-sort a list for every question;
* `strategies`  Hypothesis strategies for ids, scores, times and records;
* `machine`     a rule-based state machine for anything index-shaped;
* `native`, `native_machine`  the same for the native core, with its own rules on top;
* `profile_oracle`, `profile_machine`  a whole profile as plain lists, and random histories on it
  (the modules whose names begin like these are their parts);
* `contracts`   suites of tests that every journal, index and profile must pass (needs pytest);
* `clock`       a clock that stands still until it is told to move.

All but `clock` and the oracles need Hypothesis: pip install "toprung[testing]".
"""
