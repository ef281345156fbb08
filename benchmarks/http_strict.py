"""What does strictness cost? Bodies with repeated members or integers beyond 64 bits are refused.

A submission is decoded by msgspec alone, by ours, which proves strictness by counting quotation
marks, and by ours where that cannot be done (an escape in it), so that it is parsed twice.
"""

from __future__ import annotations

import argparse

import msgspec

from benchmarks import harness
from toprung.http.strict import BodyDecoder
from toprung.operations.requests import SubmissionBody, submission_quotes

PLAIN = b'{"player":"000000123456","score":7654321}'
ESCAPED = b'{"player":"00000012345\\u0036","score":7654321}'
COUNT = 20_000


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("http_strict")
    harness.print_header("Strict reading of a submission's body", bytes=len(PLAIN))
    loose = msgspec.json.Decoder(SubmissionBody).decode
    strict = BodyDecoder(SubmissionBody, submission_quotes).decode
    decoders = {
        "toprung, by counting": lambda: harness.each(strict, [PLAIN] * COUNT),
        "toprung, parsed twice": lambda: harness.each(strict, [ESCAPED] * COUNT),
        "msgspec alone": lambda: harness.each(loose, [PLAIN] * COUNT),
    }
    report.add_medians("one body", harness.interleave(options.rounds, decoders))
    return report


if __name__ == "__main__":
    harness.main(run)
