"""The verdicts of several root seeds, each in a file of its own, and how many of them change."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pandas as pd

from pengp._core.files import writing_to
from pengp.study.base import Study
from pengp.study.claims import judge
from pengp.study.report_rows import Rows
from pengp.study.runner import Progress, ignore, run_studies
from pengp.study.store import Store
from pengp.study.task import TestRuns

#: Name of the table that `run_seeds` writes.
VERDICTS = "verdicts.csv"
_SIZE = "paper"


def run_seeds(
    studies: Sequence[Study],
    roots: Sequence[int],
    folder: Path,
    *,
    jobs: int = 1,
    test_runs: TestRuns | None = None,
    watched: Callable[[str], AbstractContextManager[Progress]] = lambda name: nullcontext(ignore),
) -> pd.DataFrame:
    """Run studies at paper size with several root seeds, or continue, and return the verdicts.

    Parameters
    ----------
    studies : sequence of Study
        What to run.
    roots : sequence of int
        Root seeds; the results of seed s are in ``folder/seed-s.sqlite``.
    folder : Path
        Where the files and the table `VERDICTS` go; made if there is none.
    jobs, test_runs
        As for `run_studies`.
    watched : callable
        Returns, for a name, the context that shows the progress of a study.

    Returns
    -------
    DataFrame
        One row for each statement of these studies, one column of verdicts for each seed.
    """
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
    names, found = {study.name for study in studies}, {}
    for root in roots:

        def shown(study: Study, root: int = root) -> AbstractContextManager[Progress]:
            return watched(f"seed {root}, {study.name}")

        with Store.open(folder / f"seed-{root}.sqlite", "w") as store:
            run_studies(
                studies, store, _SIZE, root=root, jobs=jobs, test_runs=test_runs, watched=shown
            )
            judged = judge(Rows(store.rows()))
        found[f"seed {root}"] = {c.id: v.status for c, v in judged if c.study in names}
    table = pd.DataFrame(found).rename_axis("claim").reset_index()
    with writing_to(folder / VERDICTS):
        table.to_csv(folder / VERDICTS, index=False, lineterminator="\n")
    return table


def changing(table: pd.DataFrame) -> pd.DataFrame:
    """Return how often each statement gets each verdict, for those whose verdict changes."""
    verdicts = table.set_index("claim")
    moving = verdicts[verdicts.nunique(axis=1) > 1]
    counts = [row.value_counts().to_dict() for _, row in moving.iterrows()]
    return pd.DataFrame(counts, index=moving.index).fillna(0).astype(int)
