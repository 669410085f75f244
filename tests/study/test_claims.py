"""Every claim can be reproduced, not reproduced and not testable; the rules by value."""

import numpy as np
import pandas as pd
import pytest

from pengp.study.claims import CLAIMS, counts, judge
from pengp.study.claims.base import Claim
from pengp.study.judges.base import Verdict, count, matches, mean_of, number
from pengp.study.report_rows import Rows
from tests.study.claim_changes import ANISO, FLIPS, ISO, put
from tests.study.paper_rows import near, paper_rows

BY_ID = {claim.id: claim for claim in CLAIMS}
ALSO = {"simulation-scad": "simulation", "limits": "forrester"}


def rows_for(claim: Claim) -> pd.DataFrame:
    """Return rows on which the claim holds."""
    return paper_rows(*{claim.study, ALSO.get(claim.study, claim.study)})


def verdict_on(claim_id: str, frame: pd.DataFrame) -> Verdict:
    """Return the verdict on one claim."""
    return next(j.verdict for j in judge(frame) if j.claim.id == claim_id)


def test_every_claim_holds_on_rows_made_as_the_paper_says() -> None:
    found = judge(paper_rows())
    assert [j.claim.id for j in found if j.verdict.status != "reproduced"] == []
    assert counts(found) == {"reproduced": len(CLAIMS), "not reproduced": 0, "not testable": 0}


def test_every_claim_has_its_own_name_and_a_change_that_refutes_it() -> None:
    assert len(BY_ID) == len(CLAIMS)
    assert set(FLIPS) == set(BY_ID)


@pytest.mark.parametrize("claim_id", sorted(FLIPS))
def test_a_claim_is_not_reproduced_on_rows_that_contradict_it(claim_id: str) -> None:
    claim = BY_ID[claim_id]
    frame = rows_for(claim)
    assert claim.judge(Rows(frame)).status == "reproduced"
    FLIPS[claim_id](frame)
    assert claim.judge(Rows(frame)).status == "not reproduced"


def test_no_claim_is_testable_without_rows() -> None:
    found = judge(paper_rows().iloc[:0])
    assert counts(found)["not testable"] == len(CLAIMS)
    assert all(j.verdict.found for j in found)


def test_claims_on_repetitions_are_not_testable_with_few_of_them() -> None:
    frame = paper_rows()
    found = judge(frame[frame["repetition"] < 2])
    few = {j.claim.id for j in found if "of 100 repetitions" in j.verdict.found}
    few |= {j.claim.id for j in found if "of 20 repetitions" in j.verdict.found}
    assert {i for i in BY_ID if i.startswith("simulation")} <= few
    assert {"forrester-dpe-zero", "piston-slap-isotropic-1se-rmse", "forrester-md-gap"} <= few
    assert all(verdict_on(i, frame).status == "reproduced" for i in ("forrester-theta-mle",))
    # What needs no repetitions is still judged.
    assert "forrester-theta-mle" not in few


def test_a_few_failed_repetitions_do_not_stop_an_average() -> None:
    frame = paper_rows("simulation")
    claim = BY_ID["simulation-1se-lim-rmse"]
    assert claim.judge(Rows(frame[frame["repetition"] < 95])).status == "reproduced"
    kept = Rows(frame[frame["repetition"] < 94])
    assert judge(kept)[[c.id for c in CLAIMS].index(claim.id)].verdict.found == (
        "94 of 100 repetitions of simulation/lim"
    )


def test_test_runs_are_needed_for_scores_only() -> None:
    frame = paper_rows("piston-slap")
    found = judge(frame[~frame["function"].str.endswith("-test")])
    by_id = {j.claim.id: j.verdict for j in found}
    assert by_id["piston-slap-anisotropic-mle"].status == "reproduced"
    assert by_id["piston-slap-anisotropic-mle-scores"].status == "not testable"
    assert "piston-slap/anisotropic-test" in by_id["piston-slap-anisotropic-mle-scores"].found


def test_the_plateau_counts_as_the_papers_estimate_only_if_it_is_as_likely() -> None:
    frame = paper_rows("piston-slap")
    put(f"{ISO}-path", "pmle", "theta", 90.017, lam=0.0)(frame)
    found = verdict_on("piston-slap-isotropic-mle", frame)
    assert found.status == "reproduced"
    assert "ours 90.017" in found.found
    assert "18.992" in found.found
    assert "not identified" in found.details


def test_both_numbers_are_shown_where_ours_differs() -> None:
    frame = paper_rows("forrester")
    put("forrester/path", "pmle", "theta", 10.554, lam=near(0.0231))(frame)
    found = verdict_on("forrester-nfold-theta", frame)
    assert found.status == "not reproduced"
    assert "10.554" in found.found
    assert "10.565" in found.found


def test_an_improvement_within_two_standard_errors_is_not_one_and_says_so() -> None:
    frame = paper_rows("simulation")
    noise = 0.6 * np.resize([1.0, -1.0, -1.0, 1.0], 100)  # its mean over 100 repetitions is 0
    put("simulation/lim", "dpe_1se", "rmse", lambda v: v + noise)(frame)
    found = verdict_on("simulation-1se-lim-rmse", frame)
    # RMSE has the unit 2, so the paired differences are -0.1 +- 0.3: a standard error of 0.0302.
    assert found.found == "mean difference −0.100 ± 0.030"  # noqa: RUF001
    assert found.status == "reproduced"
    put("simulation/lim", "dpe_1se", "rmse", lambda v: v + 1.5 * noise)(frame)
    found = verdict_on("simulation-1se-lim-rmse", frame)
    assert found.status == "not reproduced"
    assert "the stated sign, but within two standard errors" in found.found


def test_draws_that_all_match_the_mle_neither_degrade_nor_improve() -> None:
    frame = paper_rows("piston-slap")
    for method in ("pe", "dpe", "dpe_1se"):
        put(ANISO, method, "chosen", 0.0)(frame)
    worse = verdict_on("piston-slap-anisotropic-degradation-rmse", frame)
    better = verdict_on("piston-slap-anisotropic-significant-rmse", frame)
    assert worse == Verdict("reproduced", "no draw is worse")
    assert better == Verdict("not reproduced", "no draw improves")


def test_claims_on_draws_and_limits_need_no_extras() -> None:
    frame = paper_rows("forrester", "limits")
    frame = frame[(frame["function"] != "partitions") & (frame["method"] != "approximation")]
    by_id = {j.claim.id: j.verdict for j in judge(frame)}
    assert by_id["forrester-dpe-zero"] == Verdict("reproduced", "λ* = 0 in 20 of 20 draws")
    assert by_id["limits-zero-md"].status == "reproduced"
    assert by_id["limits-zero-md"].details == ""


def test_the_bound_of_appendix_a_holds_if_no_lambda_of_the_grid_reaches_zero() -> None:
    frame = paper_rows("forrester", "limits")
    put("forrester/path", "pmle", "theta", 20.0)(frame)
    assert "no λ of the grid" in verdict_on("limits-smallest-lambda", frame).found


@pytest.mark.parametrize(
    ("value", "printed", "same"),
    [
        (27.4449, "27.444", True),
        (27.4431, "27.444", True),
        (27.4451, "27.444", False),
        (0.0231, "0.02", True),
        (0.0461, "0.02", False),
        (1000.0, "1000", True),
        (998.9, "1000", False),
        (0.5004, "0.500", True),
        (0.4985, "0.500", False),
    ],
)
def test_a_printed_number_allows_one_unit_of_its_last_digit(
    value: float, printed: str, same: bool
) -> None:
    assert matches(value, printed) is same


def test_a_difference_has_the_standard_error_of_its_mean() -> None:
    found = mean_of(pd.Series([1.0, 2.0, 3.0, 6.0]))
    assert found.mean == 3.0
    assert found.se == pytest.approx(np.sqrt(14.0 / 3.0) / 2.0)  # sum of squares 14, ddof = 1
    assert found.above
    assert not found.below
    assert not mean_of(pd.Series([-1.0, 1.0])).above


def test_numbers_for_readers() -> None:
    assert [number(v) for v in (0.00001, 87500.0, -0.123456, 1000.0)] == [
        "1e−5",  # noqa: RUF001
        "87,500",
        "−0.1235",  # noqa: RUF001
        "1000",
    ]
    assert count(pd.Series([0.0, 0.5, 0.5])) == "0 (1×), 0.5000 (2×)"  # noqa: RUF001
