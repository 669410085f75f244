"""Signals as a terminal leaves them, for tests that send them."""

import signal


def restore_signals() -> None:
    """Let Ctrl-C and a hang-up end what is started from here.

    A shell starts a background job with the one ignored, nohup with the other, and every command
    that the tests start would inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
