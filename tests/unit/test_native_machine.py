"""The native core equals the oracle under random steps."""

from toprung.testing.native import NativeMachine

TestNative = NativeMachine.TestCase
