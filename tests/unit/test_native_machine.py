"""The native core equals the oracle under random steps."""

from toprung.testing.native_machine import NativeMachine

TestNative = NativeMachine.TestCase
