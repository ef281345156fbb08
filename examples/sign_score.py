"""Sign a score for Toprung with nothing but Python's standard library.

    from sign_score import sign_score

    run = ...  # the answer of POST /v1/boards/blitz/runs {"player": "alice"}
    score = {"player": "alice", "score": "12.50", "details": {"car": 7}}
    score["run"] = run["run"]
    score["signature"] = sign_score(run, "blitz", score, decimals=2)
    ...  # POST /v1/boards/blitz/scores with this score

`score` is the body of the submission as it will be sent; `decimals` are the board's. This raises
the cost of cheating and proves nothing: whoever controls this program controls what it signs.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def sign_score(
    run: Mapping[str, str], board: str, score: Mapping[str, Any], decimals: int = 0
) -> str:
    """The signature of a submission, in hexadecimal digits."""
    message = score_message(run["run"], board, score, decimals)
    return hmac.new(bytes.fromhex(run["key"]), message, hashlib.sha256).hexdigest()


def score_message(run: str, board: str, score: Mapping[str, Any], decimals: int = 0) -> bytes:
    """What is signed: each field with its length in bytes before it."""
    subscore, at = score.get("subscore"), score.get("at")
    fields = [
        "toprung-score-1",
        board,
        score["player"],
        scaled(score["score"], decimals),
        "" if subscore is None else scaled(subscore, 0),
        "" if at is None else microseconds(at),
        "",
        run,
    ]
    if "details" in score:
        fields[6] = hashlib.sha256(canonical(score["details"]).encode()).hexdigest()
    encoded = [field.encode() for field in fields]
    return b"".join(b"%d:%b" % (len(field), field) for field in encoded)


def scaled(number: Any, decimals: int) -> str:
    """A score as the board stores it: 12.5 with two decimals is 1250."""
    return str(int(Decimal(str(number)).scaleb(decimals).to_integral_exact()))


def microseconds(at: str) -> str:
    """An RFC 3339 time in microseconds since 1970."""
    moment = datetime.fromisoformat(at.upper())
    return str((moment - EPOCH) // timedelta(microseconds=1))


def canonical(value: Any) -> str:
    """JSON in its canonical form (RFC 8785)."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        members = (f"{canonical(name)}:{canonical(value[name])}" for name in names)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return canonical_number(value)
    return json.dumps(value, ensure_ascii=False)


def canonical_number(value: float) -> str:
    """A double as JavaScript writes it: the shortest digits that read back as the same number."""
    if not math.isfinite(value):
        raise ValueError(f"JSON has no {value}")
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    if value == 0:
        return "0"
    if len(text) <= point <= 21:
        text += "0" * (point - len(text))
    elif 0 < point <= 21:
        text = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{text}"
    else:
        text = f"{text[0]}{'.' + text[1:] if text[1:] else ''}e{point - 1:+d}"
    text = "-" * sign + text
    if float(value) != value and text != str(value):
        raise ValueError(f"{value} is no double: write it as text")
    return text
