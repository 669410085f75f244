"""Columns that look like another response: found where they follow, and no design is accused."""

import numpy as np
import pandas as pd
import pytest

from pengp.cli.runs import Runs, note_suspects
from pengp.cli.suspects import like_responses
from pengp.datasets import FUNCTIONS, latin_hypercube
from pengp.model import Log10


@pytest.mark.parametrize("name", ["otl_circuit", "wing_weight", "lim"])
def test_a_response_among_the_inputs_is_found_and_no_input_with_it(name: str) -> None:
    f = FUNCTIONS[name]
    X = latin_hypercube(40, f.dimension, random_state=0)
    assert like_responses(X) == []
    assert like_responses(np.insert(X, 1, f.unit(X), axis=1)) == [1]


def test_designs_are_not_accused() -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(4, 60)), int(rng.integers(1, 9))
        assert like_responses(rng.random((n, d))) == []
    levels = np.stack(np.meshgrid([0.0, 0.5, 1.0], [1.0, 2.0, 3.0], [5.0, 6.0]), -1).reshape(-1, 3)
    assert like_responses(levels) == []


def test_a_multiple_of_another_column_is_named_once() -> None:
    x, z = np.random.default_rng(0).random((2, 12))
    assert like_responses(np.c_[x, z, 2.0 * x]) == [2]
    assert like_responses(np.c_[x, np.ones(12)]) == []


def test_a_response_follows_on_the_scale_on_which_an_input_enters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    U = latin_hypercube(40, 2, random_state=0)
    k, head = 10.0 ** (8.0 * U[:, 0] - 6.0), 1.0 + 4.0 * U[:, 1]
    X = pd.DataFrame({"k": k, "head": head, "pressure": 3.0 * head + np.log10(k)})
    runs = Runs("runs.csv", X, np.sin(head))
    note_suspects(runs, {})
    assert capsys.readouterr().err == ""  # as it is, k over eight decades says nothing
    note_suspects(runs, {"k": Log10()})
    told = " ".join(capsys.readouterr().err.split())
    assert "the column 'pressure' follows the other inputs" in told
    assert "'k'" not in told
    note_suspects(Runs("runs.csv", X[["k", "head"]], np.sin(head)), {"k": Log10()})
    assert capsys.readouterr().err == ""
