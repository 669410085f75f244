"""One self-contained HTML page about a fitted model.

The page needs no network and no other file. It says in plain sentences what was found, shows it in
figures, which follow a slider over lambda where there is one, and lists everything that is needed
to repeat the work.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pengp._core.files import replacing
from pengp.estimators import (
    BayesianGPRegressor,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
)
from pengp.estimators.nested import surrogate_in
from pengp.estimators.view import check_model
from pengp.report.pdf import chromium, printed

__all__ = ["write_report"]


def write_report(
    model: BayesianGPRegressor | PenalizedGPRegressor | PenalizedGPRegressorCV,
    path: str | os.PathLike[str],
    *,
    info: Mapping[str, Any] | None = None,
    pdf: bool | None = None,
) -> list[str]:
    """Write a report about a fitted model, an HTML page or a PDF of it.

    Parameters
    ----------
    model : BayesianGPRegressor, PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted. Several outputs get a part of the page each. Beside an average stands the paper's
        choice of lambda, fitted to the same runs for the page. Of a Pipeline or a
        TransformedTargetRegressor the page shows the estimator inside, in its units.
    path : str or path
        File to write, such as ``report.html``; it is replaced if it exists. A name that ends in
        .pdf gives the page as Chromium prints it, if that is installed or PENGP_CHROMIUM names it.
    info : mapping, optional
        What else is known, shown as it is: ``response`` (the response's name, or a list of names)
        and ``source`` appear in the title, ``created`` below it, and everything, such as
        ``command``, ``seed`` or ``history``, under Settings.
    pdf : bool, optional
        Whether a PDF is written, whatever the name says.

    Returns
    -------
    list of str
        Of an average, a sentence for each output on how its predictions differ from those of the
        paper's choice of lambda; else empty.

    Examples
    --------
    >>> from pathlib import Path
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> from pengp.report import write_report
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(0.0578, random_state=0).fit(runs.X, runs.y)
    >>> write_report(model, "piston.html", info={"response": "noise", "source": "piston slap"})
    []
    >>> Path("piston.html").stat().st_size > 100_000  # one file that needs nothing else
    True
    """
    model = surrogate_in(model)
    check_model(model)
    try:
        from pengp.report.page import render
    except ModuleNotFoundError as error:
        raise ImportError(
            f'the report needs {error.name}; install it: pip install "pengp[report]".'
        ) from error
    as_pdf = Path(path).suffix.lower() == ".pdf" if pdf is None else pdf
    if as_pdf:
        chromium()  # where there is none, that is said before the work
    page, told = render(model, {} if info is None else info)
    content = printed(page) if as_pdf else page.encode("utf-8")
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return told
