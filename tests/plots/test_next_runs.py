"""The display of proposed runs: what is drawn are the record's numbers."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from pengp import BayesianGPRegressor, load_piston_slap
from pengp.decisions import next_runs
from pengp.exceptions import InputError
from pengp.plots import NextRunsDisplay


def test_every_run_stands_in_every_pair_of_the_inputs_that_matter() -> None:
    runs = load_piston_slap()
    model = BayesianGPRegressor(kernels="sqexp", effective_size=100, random_state=0)
    model.fit(runs.X, runs.y)
    found = next_runs(model, 2, criterion="VIGF", planned=runs.X[:1] + 0.1)
    shown = NextRunsDisplay.from_next_runs(found, most=3).plot()
    most = sorted(np.argsort(-found.importance)[:3])
    assert shown.pairs == [(most[0], most[1]), (most[0], most[2]), (most[1], most[2])]
    for (p, q), panel in zip(shown.pairs, shown.axes_, strict=True):
        drawn = [np.asarray(line.get_xydata(), dtype=np.float64) for line in panel.lines]
        known, planned, proposed = drawn
        np.testing.assert_array_equal(proposed, found.X[:, [p, q]])
        np.testing.assert_allclose(known, runs.X[:, [p, q]])
        np.testing.assert_allclose(planned, runs.X[:1, [p, q]] + 0.1)
        assert panel.get_xlabel() == found.names[p]
        assert [text.get_text() for text in panel.texts] == ["1", "2"]
    with pytest.raises(InputError, match="3 panels"):
        shown.plot(plt.subplots(1, 2)[1])
    with pytest.raises(InputError, match="most=1"):
        NextRunsDisplay.from_next_runs(found, most=1)
    plt.close("all")
