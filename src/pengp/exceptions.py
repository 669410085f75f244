"""The package's own error and warning categories."""


class InputError(ValueError):
    """The caller's data or argument cannot be used; the message says what, where and what to do."""


class FileError(InputError):
    """A file cannot be read or written, or is not what it should be."""


class PengpWarning(UserWarning):
    """A result was returned, but the caller should know something before trusting it."""


class DoubtWarning(PengpWarning):
    """A surrogate was fitted that its own runs speak against; its ``summary`` says why."""
