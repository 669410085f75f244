"""The package's own error and warning categories."""


class InputError(ValueError):
    """The caller's data or argument cannot be used; the message says what, where and what to do.

    It is one line, also where it shows an array.

    Examples
    --------
    >>> from pengp import InputError, PenalizedGPRegressor
    >>> try:
    ...     PenalizedGPRegressor(lam=-1.0).fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 4.0])
    ... except InputError as error:
    ...     print(error)
    every lambda must be from 0 to 1e+50, but lams holds -1.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(line.strip() for line in str(message).splitlines()))


class FileError(InputError):
    """A file cannot be read or written, or is not what it should be.

    Examples
    --------
    >>> from pengp import FileError, load
    >>> try:
    ...     load("nowhere.pengp")
    ... except FileError as error:
    ...     print(error)
    there is no file nowhere.pengp; check its name.
    """


class PengpWarning(UserWarning):
    """A result was returned, but the caller should know something before trusting it.

    Examples
    --------
    All warnings of pengp are of this class, and can be made errors:

    >>> import warnings
    >>> from pengp import DoubtWarning, PengpWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PengpWarning)
    ...     print(issubclass(DoubtWarning, PengpWarning))
    True
    """


class DoubtWarning(PengpWarning):
    """A surrogate was fitted that its own runs speak against; its ``summary`` says why.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from pengp import DoubtWarning, PenalizedGPRegressor
    >>> X, y = np.linspace(0, 1, 8)[:, None], [0.0, 3.0, -2.0, 1.0, -3.0, 2.0, 0.5, -1.0]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", DoubtWarning)
    ...     model = PenalizedGPRegressor(random_state=0).fit(X, y)
    >>> [warning.category.__name__ for warning in caught]
    ['DoubtWarning']
    """
