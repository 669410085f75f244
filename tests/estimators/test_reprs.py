"""What a prompt shows of results is short and true."""

import numpy as np

from pengp import PenalizedGPRegressorCV, diagnose, load_piston_slap


def test_results_say_in_one_line_what_they_hold() -> None:
    runs = load_piston_slap()
    model = PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs.X, runs.y)
    found = diagnose(model)
    assert repr(model.cv_table_).startswith("CVTable(41 lambdas, 4 splits, metrics ")
    best = np.nanmax(model.modes_.objective)
    shown = f"Modes({int(model.modes_.count)} local maxima, best objective {best:.4g})"
    assert repr(model.modes_) == shown
    assert f"{int(found.active.sum())} of 6 inputs active" in repr(found)
    for finding in found.findings:
        assert finding.code in repr(found)
        assert f"- {finding.message}" in str(found).splitlines()
    assert found._repr_html_().count("<li>") == len(found.findings)


def test_modes_of_a_path_tell_the_range_of_their_number() -> None:
    runs = load_piston_slap()
    model = PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs.X, runs.y)
    modes = model.path_.modes
    assert f"Modes({modes.count.min()} to {modes.count.max()} local maxima" in repr(modes)
