"""What runs beside the journal: followers after a commit, effects outside, jobs at a time.

`following`, `delivering` and `working` are the three duties; `runner` gives each of them to one
process at a time and drives them.
"""
