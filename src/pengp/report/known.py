"""What a tool finds of a model; where it cannot be known its section is left out."""

from collections.abc import Callable
from typing import TypeVar

from pengp.estimators.view import FittedView
from pengp.exceptions import InputError
from pengp.report.subject import Subject

Found = TypeVar("Found")


def known(subject: Subject, find: Callable[[FittedView], Found]) -> Found | None:
    """Return what is found; None of a constant response, and where the tool refuses.

    It does so for a kernel or a mean of the user's own, where it needs their integrals, and for
    further runs where everything has run.
    """
    if subject.view.is_constant:
        return None
    try:
        return find(subject.view)
    except InputError:
        return None
