"""Every docstring of the native module is run, and every public name has one."""

import doctest
import inspect

import pytest

from toprung import _native

CLASSES = (
    _native.PlayerTable,
    _native.RankedSet,
    _native.Merge,
    _native.PositionMap,
    _native.PlayerLists,
    _native.RecordReader,
    _native.RankColumns,
)


def documented() -> dict[str, object]:
    """Everything with a docstring: doctest's own finder does not know the binding's method type."""
    names: dict[str, object] = {"module": _native}
    names["_fail_allocations_after"] = _native._fail_allocations_after
    names["finish"] = _native.finish
    for owner in CLASSES:
        names[owner.__name__] = owner
        for name in vars(owner):
            if not name.startswith("__") and not name.isupper():
                names[f"{owner.__name__}.{name}"] = inspect.getattr_static(owner, name)
    return names


@pytest.mark.parametrize("name", documented())
def test_docstring(name: str) -> None:
    text = documented()[name].__doc__
    assert text, f"{name} has no docstring"
    parser = doctest.DocTestParser()
    example = parser.get_doctest(text, dict(vars(_native)), name, "native/docstrings.hpp", 0)
    results = doctest.DocTestRunner(verbose=False).run(example)
    assert results.failed == 0


def test_methods_state_their_cost() -> None:
    methods = [m for name, m in documented().items() if callable(m) and "." in name]
    without = [m for m in methods if "O(" not in str(m.__doc__)]
    assert without == []
