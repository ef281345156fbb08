"""Settings: of a cluster from a file, the environment and flags, the later ones winning; quotas.

A file is TOML with a table `cluster`; the environment has ``TOPRUNG_JOURNAL_URL`` and so on::

    [cluster]
    journal_url = "postgresql://toprung@db.example.org/toprung"
    index_url = "redis+cluster://cache.example.org:6379"
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from toprung.domain.quotas import Quotas
from toprung.errors import Invalid

ENVIRONMENT_TARGET = "cluster:"
"""The target that takes all settings from the environment."""

TOKEN_SECRET = "TOPRUNG_TOKEN_SECRET"  # noqa: S105 -- its name
"""The variable of the environment with a secret that players' tokens are signed with."""

PRIVATE_WEBHOOKS = "TOPRUNG_WEBHOOKS_PRIVATE"
"""The variable of the environment that allows webhooks at private addresses."""

ARCHIVE_VARIABLE = "TOPRUNG_ARCHIVE_URL"
"""The variable of the environment that says where settled periods are archived."""

RUN_SECRETS_VARIABLE = "TOPRUNG_RUN_SECRETS"
"""The variable of the environment that names the file with the secrets of runs."""

NAME_WORDS_VARIABLE = "TOPRUNG_NAME_WORDS"
"""The variable of the environment that names the file with words that send names to review."""
LOG_KEY_VARIABLE = "TOPRUNG_LOG_KEY"
"""The variable of the environment that names the file of the key that signs the audit log."""

NO_ARCHIVE = "off"
"""What people say instead of a place for archives."""

JOURNAL_SCHEMES = ("postgresql", "postgres")
INDEX_SCHEMES = ("redis", "rediss", "redis+cluster", "rediss+cluster")


class ClusterSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the cluster's servers are.

    TLS: `rediss://` and `rediss+cluster://`; `postgresql://...?sslmode=verify-full`.
    """

    journal_url: str
    index_url: str
    schema: str | None = None
    """The PostgreSQL schema that holds the tables; by default the connection's own."""
    prefix: str = "toprung:"
    """What all keys in Redis begin with."""
    archive_url: str | None = None
    """Where settled periods are archived: a directory that all processes share, or ``s3://``,
    ``gs://`` or ``az://``. None: nothing is archived."""
    run_secrets: str | None = None
    """The file with the secrets of runs, which all processes share. None: there are no runs."""
    name_words: str | None = None
    """The file with words that send names of players to review. None: there is none."""
    log_key: str | None = None
    """The file of the key that signs the audit log, the same for all processes. None: nobody signs
    it."""


def archive_of(path: str, said: str | None, *, is_served: bool = False) -> str | None:
    """Where the periods of a file are archived; None: nowhere.

    What was said comes first, then the environment, then the directory beside the file: if it
    exists, or if the file is served by a process that can write archives.

    >>> archive_of("scores.db", "s3://bucket/archive"), archive_of("memory:", None, is_served=True)
    ('s3://bucket/archive', None)
    """
    said = said or os.environ.get(ARCHIVE_VARIABLE) or None
    if said is not None:
        return None if said == NO_ARCHIVE else said
    beside = f"{path}.archive"
    if path == "memory:" or not (is_served or os.path.isdir(beside)):  # noqa: PTH112
        return None
    return beside if all(map(find_spec, ("pyarrow", "obstore"))) else None


def run_secrets_of(path: str, environment: Mapping[str, str] | None = None) -> str | None:
    """The file with the secrets of runs on the boards of a file; None: they are in memory, too.

    >>> run_secrets_of("scores.db", {}), run_secrets_of("memory:", {})
    ('scores.db.secrets', None)
    """
    environment = os.environ if environment is None else environment
    if path == "memory:":
        return None
    return environment.get(RUN_SECRETS_VARIABLE) or f"{path}.secrets"


def log_key_of(said: str | None) -> str | None:
    """The file of the key that signs the audit log of a file; None: beside the database."""
    return said or os.environ.get(LOG_KEY_VARIABLE) or None


def is_cluster_target(target: str) -> bool:
    """Whether `toprung.open(target)` means a cluster.

    >>> [is_cluster_target(t) for t in ("scores.db", "memory:", "cluster:", "cluster.toml")]
    [False, False, True, True]
    """
    return target == ENVIRONMENT_TARGET or target.endswith(".toml")


def cluster_settings(
    target: str = ENVIRONMENT_TARGET,
    environment: Mapping[str, str] | None = None,
    **flags: str | None,
) -> ClusterSettings:
    """The settings behind a target.

    >>> cluster_settings(environment={"TOPRUNG_JOURNAL_URL": "postgresql://db/toprung"})
    Traceback (most recent call last):
    toprung.errors.Invalid: index_url: is missing: set TOPRUNG_INDEX_URL or use a .toml file with it
    """
    environment = os.environ if environment is None else environment
    values: dict[str, object] = {}
    if target != ENVIRONMENT_TARGET:
        values |= _file_values(target)
    for name in ClusterSettings.__struct_fields__:
        found = environment.get(f"TOPRUNG_{name.upper()}")
        if found is not None:
            values[name] = found
    values |= {name: value for name, value in flags.items() if value is not None}
    for name in ("journal_url", "index_url"):
        if name not in values:
            variable = f"TOPRUNG_{name.upper()}"
            raise Invalid(name, f"is missing: set {variable} or use a .toml file with it")
    try:
        settings = msgspec.convert(values, ClusterSettings)
    except msgspec.ValidationError as error:
        raise Invalid("cluster", str(error)) from None
    _check_scheme("journal_url", settings.journal_url, JOURNAL_SCHEMES)
    _check_scheme("index_url", settings.index_url, INDEX_SCHEMES)
    if settings.schema is not None and not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", settings.schema):
        raise Invalid("schema", "must be a plain lower-case name")
    if not re.fullmatch(r"[A-Za-z0-9:._-]{0,64}", settings.prefix):
        raise Invalid("prefix", "must be at most 64 letters, digits, ':', '.', '_' and '-'")
    return settings


def token_values(target: str, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What a cluster's file, and then the environment, say about players' tokens.

    The other settings of the environment are the options of `toprung serve`; the secret has no
    option, because command lines are there for everybody to see.

    >>> token_values("scores.db", {"TOPRUNG_TOKEN_SECRET": "s3cret"})
    {'secret': 's3cret'}
    """
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    if target.endswith(".toml"):
        values = _token_table(target)
    secret = environment.get(TOKEN_SECRET)
    return values | ({"secret": secret} if secret else {})


def _token_table(path: str) -> dict[str, Any]:
    table = _toml(path).get("tokens", {})
    try:
        found = msgspec.convert(table, _TokenTable)
    except msgspec.ValidationError as error:
        raise Invalid("tokens", str(error)) from None
    names = {"keys": "places", "lifetime": "lifetime_seconds", "leeway": "leeway_seconds"}
    said = msgspec.to_builtins(found)
    return {names.get(name, name): value for name, value in said.items()}


class _TokenTable(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The table `tokens` of a cluster's file."""

    keys: tuple[str, ...] = ()
    """Files and URLs."""
    audience: str | None = None
    issuer: str | None = None
    lifetime: int | None = None
    leeway: int | None = None


def chosen_quotas(
    given: Mapping[str, int] | None = None, environment: Mapping[str, str] | None = None
) -> dict[str, int]:
    """The quotas that differ from a profile's own: those of the environment, then the given ones.

    >>> chosen_quotas({"keys_per_owner": 7}, {"TOPRUNG_KEYS_PER_BOARD": "9"})
    {'keys_per_board': 9, 'keys_per_owner': 7}
    """
    environment = os.environ if environment is None else environment
    found: dict[str, int] = {}
    for name in Quotas.__struct_fields__:
        variable = f"TOPRUNG_{name.upper()}"
        text = environment.get(variable)
        if text is not None:
            if not re.fullmatch(r"[0-9]{1,16}", text):
                raise Invalid(variable, f"{text!r} is not a whole number")
            found[name] = int(text)
    return found | dict(given or {})


def allows_private_webhooks(environment: Mapping[str, str] | None = None) -> bool:
    """Whether webhooks may be at private addresses, such as this machine's.

    >>> allows_private_webhooks({}), allows_private_webhooks({"TOPRUNG_WEBHOOKS_PRIVATE": "1"})
    (False, True)
    """
    environment = os.environ if environment is None else environment
    text = environment.get(PRIVATE_WEBHOOKS, "")
    if text not in ("", "0", "1"):
        raise Invalid(PRIVATE_WEBHOOKS, f"{text!r} is neither 0 nor 1")
    return text == "1"


def _toml(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Invalid("target", f"cannot read {path!r}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Invalid("target", f"{path!r} is not valid TOML: {error}") from None


def _file_values(path: str) -> dict[str, object]:
    table = _toml(path).get("cluster")
    if not isinstance(table, dict):
        raise Invalid("target", f"{path!r} has no [cluster] table")
    return table


def _check_scheme(field: str, url: str, schemes: tuple[str, ...]) -> None:
    parts = urlsplit(url)
    if parts.scheme not in schemes:
        raise Invalid(field, f"must begin with one of {', '.join(f'{s}://' for s in schemes)}")
