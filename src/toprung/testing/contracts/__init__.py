"""Suites that every implementation of the ports must pass, whatever engine is behind it.

Subclass a suite in a test module and say how a profile is opened, with a `workbench` fixture::

    class TestEmbeddedJournal(JournalContract):
        @pytest.fixture
        def workbench(self, tmp_path: Path) -> Workbench:
            return EmbeddedWorkbench(tmp_path)

The suites speak to the ports and to the asynchronous facade only. What they do behind an
adapter's back (holding up its writer, spoiling its index) they ask of the `Workbench`.
"""
