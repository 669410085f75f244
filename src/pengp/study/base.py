"""What a study is: its parts, and how many repetitions of each a size has."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pengp.exceptions import InputError
from pengp.study.task import Task

#: The sizes of a study, smallest first.
SIZES = ("tiny", "quick", "paper")


@dataclass(frozen=True)
class Study:
    """A study: what it is about and which tasks it consists of.

    Attributes
    ----------
    name : str
        Key in `STUDIES`.
    title : str
        A few words for headings.
    description : str
        One or two sentences.
    sizes : mapping of str to mapping of str to int
        For each size, how many repetitions of each part are run, in this order.
    test_parts : tuple of str
        Parts of one repetition that need test runs of the user's, in every size.
    is_paper : bool
        Whether it repeats a study of the paper; "all" stands for those.

    Examples
    --------
    >>> from pengp.study import get_study
    >>> study = get_study("simulation")
    >>> len(study.tasks("tiny")) < len(study.tasks("paper"))
    True
    >>> study.tasks("tiny")[0]
    Task(study='simulation', function='lim', repetition=0, root=0)
    """

    name: str
    title: str
    description: str
    sizes: Mapping[str, Mapping[str, int]] = field(repr=False)
    test_parts: tuple[str, ...] = ()
    is_paper: bool = True

    def tasks(self, size: str, *, test_runs: bool = False, root: int = 0) -> list[Task]:
        """Return the tasks of a size, always in the same order: one repetition after the other.

        A run that is stopped has about as many repetitions of each part.

        Parameters
        ----------
        size : {"tiny", "quick", "paper"}
            How many repetitions.
        test_runs : bool
            Whether test runs are there for the parts that need them.
        root : int
            Root seed: another one draws all folds, designs and starts anew.
        """
        if size not in self.sizes:
            raise InputError(f"no size {size!r}; a study has the sizes {', '.join(SIZES)}.")
        counts = dict(self.sizes[size]) | dict.fromkeys(self.test_parts if test_runs else (), 1)
        tasks = [
            Task(self.name, part, r, root) for part, count in counts.items() for r in range(count)
        ]
        return sorted(tasks, key=lambda task: task.repetition)


def sizes_of(once: str, **repeated: tuple[int, int, int]) -> dict[str, dict[str, int]]:
    """Return the sizes of parts that are run once, and of parts with (tiny, quick, paper) runs."""
    fixed = dict.fromkeys(once.split(), 1)
    return {
        size: fixed | {part: counts[i] for part, counts in repeated.items()}
        for i, size in enumerate(SIZES)
    }
