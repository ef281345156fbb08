"""Benchmarks: one file per question, peers measured in the same run on the same data.

    python -m benchmarks --quick             every question at 1M players, then the table of bars
    python -m benchmarks --docs              growth to 10M as well: what the page shows
    python -m benchmarks --full              10M and 50M players as well; --resume, --only NAME
    python -m benchmarks.rank_one_by_one     one question; --size, --rounds, --seconds, --json
    python -m benchmarks.page                docs/benchmarks.md from what --results kept

A round measures every contestant once, and rounds are repeated, so that whatever else the
machine does meets all of them; medians and their ratios are printed. Nothing is asserted.

`harness` has the players, the rounds and the report, `peers` who else is asked, `library` and
`servers` what is filled and started (`cluster` and `cluster_fill` where that is a cluster),
`processor` and `script_log` what was taken of the machine and of Redis, `bars` what was asked for,
`runs` the sets of questions, `runner` asks one in a process of its own, `records` keeps results,
`plots` and `page` the page.
"""
