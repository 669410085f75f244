"""
Studies on a cluster
====================

The paper's studies are lists of tasks with seeds of their own. Rows are the same whatever the
number of processes, the machine, or how often the work was stopped.
"""

# %%
# A study is data
# ---------------

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from pengp.study import STUDIES, Store, counts, get_study, judge, run, run_studies

for study in STUDIES.values():
    print(f"{study.name:16} {len(study.tasks('paper')):5} tasks at paper size: {study.title}")

# %%
# Run, stop, go on
# ----------------
# Each finished task is a transaction in one file. Here the run ends after five tasks; a crash,
# Ctrl-C or the end of a queue's time do the same. The same command goes on where it stopped.


folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "study.sqlite"
studies = [get_study("forrester"), get_study("limits")]
tasks = [task for study in studies for task in study.tasks("tiny")]
with Store.open(file, "w") as store:
    print(run(tasks[:5], store).done, "tasks done, then stopped")
with Store.open(file, "w") as store:
    tally = run_studies(studies, store, "tiny")
    for name, of in tally.items():
        print(f"{name}: {of.already} done before, {of.done} done now, {of.failed} failed")
    print(len(store.done()), "of", len(tasks), "tasks in the file")
    rows = store.rows()
    verdicts = counts(judge(rows))

# %%
# Rows to verdicts
# ----------------
# Figures, tables and verdicts read rows only. At this tiny size most statements cannot be tested
# yet.

found = {name: number for name, number in verdicts.items() if number}
print("\n".join(f"{number:3} {name}" for name, number in found.items()))
print(rows.head(3).round(3).to_string(index=False))
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.barh(list(found), list(found.values()))
ax.set(title="Verdicts from two studies at tiny size", xlabel="statements of the paper")
ax.invert_yaxis()
folder.cleanup()

# %%
# More processes, more machines
# -----------------------------
# The same commands with ``--jobs 8`` use processes of one machine, and with ``--scheduler ADDRESS``
# the workers of a Dask cluster:
#
# .. code-block:: sh
#
#    pengp study run all --size paper --jobs 8 --output study.sqlite
#    pengp study run all --size paper --scheduler tcp://node1:8786 --output study.sqlite
#    pengp study status study.sqlite
#    pengp study report study.sqlite --output-dir study-report
#
# Only one process writes, so that a shared disk needs no locks. The verdicts and how they are
# reached: :doc:`/study`.
