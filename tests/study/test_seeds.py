"""Several root seeds: files of their own, resumed, and the verdicts that change."""

from pathlib import Path

import pandas as pd
import pytest

from pengp.exceptions import FileError
from pengp.study import seeds
from pengp.study.definitions import get_study
from pengp.study.runner import run_studies
from pengp.study.seeds import VERDICTS, changing, run_seeds
from pengp.study.store import Store


def test_verdicts_of_two_seeds_and_nothing_to_do_again(tmp_path: Path) -> None:
    studies = [get_study("limits")]
    table = run_seeds(studies, [1, 2], tmp_path)
    assert list(table.columns) == ["claim", "seed 1", "seed 2"]
    assert set(table["claim"].str.split("-").str[0]) == {"limits"}
    assert pd.read_csv(tmp_path / VERDICTS).equals(table)
    with Store.open(tmp_path / "seed-2.sqlite") as store:
        assert store.root == 2
        assert {task.root for task in store.done()} == {2}
        before = store.rows()
    again = run_seeds(studies, [1, 2], tmp_path)
    assert again.equals(table)
    with Store.open(tmp_path / "seed-2.sqlite") as store:
        assert store.rows().equals(before)
        assert store.metadata()["invocations"][-1]["tasks_done"] == 0


def test_a_file_keeps_to_its_root_seed(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.sqlite", "w") as store:
        run_studies([get_study("limits")], store, "tiny", root=3)
        with pytest.raises(FileError, match="holds results of seed 3; give that seed"):
            run_studies([get_study("limits")], store, "tiny", root=4)


def test_the_verdicts_that_change_are_counted() -> None:
    table = pd.DataFrame(
        {
            "claim": ["a", "b"],
            "seed 1": ["slip", "reproduced"],
            "seed 2": ["slip", "within chance"],
            "seed 3": ["slip", "reproduced"],
        }
    )
    found = changing(table)
    assert found.to_dict("index") == {"b": {"reproduced": 2, "within chance": 1}}
    assert changing(table[:1]).empty
    assert seeds.VERDICTS == "verdicts.csv"
