"""The folds of a fit as the command line names them, so that a later fit can deal them anew."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pengp.choosing.folds import DEFAULT_K, FoldPlan, default_repeats, make_folds

if TYPE_CHECKING:
    import pandas as pd

    from pengp._core.arrays import FloatArray


@dataclass(frozen=True)
class Folds:
    """How runs are dealt into folds.

    Attributes
    ----------
    folds : str
        A number, or a kind as `pengp.choosing.make_folds` knows it.
    repeats : int
        How often they are dealt.
    seed : int
        Seed of the dealing and of the fit.
    """

    folds: str
    repeats: int
    seed: int

    @classmethod
    def of(cls, folds: str, repeats: int | None, seed: int, n: int) -> "Folds":
        """Take the options for n runs; repeats have a default."""
        return cls(folds, default_repeats(n) if repeats is None else repeats, seed)

    @classmethod
    def from_info(cls, info: Mapping[str, Any], n: int) -> "Folds":
        """Take what a model file says, the defaults where it says nothing, for n runs."""
        folds, repeats, seed = (info.get(name) for name in ("folds", "repeats", "seed"))
        return cls.of(str(folds or DEFAULT_K), repeats, seed or 0, n)

    def deal(self, X: "pd.DataFrame", y: "FloatArray") -> FoldPlan | int:
        """Return the plan for inputs X [n, d] and response y [n].

        For fewer runs than the default number of folds that number is returned, for which the
        estimator has its own way.
        """
        folds = int(self.folds) if self.folds.isdecimal() else self.folds
        if folds == DEFAULT_K and len(y) < DEFAULT_K:
            return DEFAULT_K
        return make_folds(folds, X, y, random_state=self.seed, repeats=self.repeats)

    def record(self) -> dict[str, Any]:
        """Return all of it for a model file."""
        return asdict(self)
