"""Every claim can be reproduced, contradicted and not testable; every rule is reached."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pengp.study.claims import CLAIMS, STATUSES, Status, counts, judge, readings
from pengp.study.claims.base import Claim
from pengp.study.judges.base import (
    Difference,
    Emulated,
    Outcome,
    Verdict,
    count,
    each,
    matches,
    mean_of,
    number,
    read,
    verdict,
)
from pengp.study.report_rows import Rows
from tests.study.claim_changes import ANISO, CONTRADICTED, ISO, LOO, REASONS, Change, put
from tests.study.paper_rows import LAST, near, paper_rows

BY_ID = {claim.id: claim for claim in CLAIMS}
ALSO = {"simulation-scad": "simulation", "limits": "forrester", "piston-slap": "forrester"}


def rows_for(claim: Claim) -> pd.DataFrame:
    """Return rows on which the claim holds."""
    return paper_rows(*{claim.study, ALSO.get(claim.study, claim.study)})


def verdict_on(claim_id: str, frame: pd.DataFrame) -> Verdict:
    """Return the verdict on one claim."""
    return next(j.verdict for j in judge(frame) if j.claim.id == claim_id)


#: Cannot hold together with the paper's own lambda*, which is within one standard error too.
SLIP = "forrester-1se-smallest"


def test_every_claim_holds_on_rows_made_as_the_paper_says() -> None:
    found = judge(paper_rows())
    assert [j.claim.id for j in found if j.verdict.status != "reproduced"] == [SLIP]
    assert counts(found) == dict.fromkeys(STATUSES, 0) | {
        "reproduced": len(CLAIMS) - 1,
        "slip": 1,
    }


def test_every_claim_has_its_own_name_and_a_change_that_contradicts_it() -> None:
    assert len(BY_ID) == len(CLAIMS)
    assert set(CONTRADICTED) == set(BY_ID)


@pytest.mark.parametrize("claim_id", sorted(CONTRADICTED))
def test_a_claim_is_contradicted_by_rows_that_nothing_explains(claim_id: str) -> None:
    claim = BY_ID[claim_id]
    frame = rows_for(claim)
    CONTRADICTED[claim_id](frame)
    assert claim.judge(Rows(frame)).status == "contradicted"


@pytest.mark.parametrize(
    ("claim_id", "status", "change"), REASONS, ids=lambda value: value if value in BY_ID else ""
)
def test_a_verdict_says_why(claim_id: str, status: Status, change: Change) -> None:
    frame = rows_for(BY_ID[claim_id])
    change(frame)
    assert BY_ID[claim_id].judge(Rows(frame)).status == status


def test_every_rule_is_reached() -> None:
    assert {status for _, status, _ in REASONS} == set(STATUSES) - {
        "reproduced",
        "contradicted",
        "not testable",
    }


def test_the_rule_of_the_introduction_holds_if_the_best_lambda_is_the_last() -> None:
    frame = paper_rows("forrester")
    put(LOO, "pe", "chosen", LAST)(frame)
    put(LOO, "pe", "cv_mean", 0.1, lam=LAST)(frame)
    put(LOO, "pe", "cv_se", 0.01)(frame)
    assert verdict_on(SLIP, frame).status == "reproduced"


def test_a_statement_has_the_gravest_verdict_of_its_lines() -> None:
    lines = {
        "a": lambda rows: Verdict("within chance", "1"),
        "b": lambda rows: Verdict("slip", "2", "Why."),
        "c": lambda rows: Verdict("reproduced", "3"),
    }
    found = each(lines)(Rows(paper_rows("limits")))
    assert found == Verdict("slip", "a: within chance, 1; b: slip, 2; c: reproduced, 3", "b: Why.")


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (("holds", "holds"), "reproduced"),
        (("holds", "open"), "within chance"),
        (("holds", "fails"), "depends on the reading"),
        (("open", "open"), "within chance"),
        (("open", "fails"), "contradicted"),
        (("fails", "fails"), "contradicted"),
    ],
)
def test_readings_that_disagree_are_not_averaged(
    outcomes: tuple[Outcome, Outcome], status: Status
) -> None:
    assert read({"one": outcomes[0], "other": outcomes[1]}, "").status == status


@pytest.mark.parametrize(
    ("mean", "se", "outcome"),
    [(0.0, 0.02, "holds"), (0.0, 0.03, "open"), (0.04, 0.001, "holds"), (0.2, 0.05, "fails")],
)
def test_alike_needs_the_margin_and_not_only_a_wide_error(
    mean: float, se: float, outcome: Outcome
) -> None:
    assert Difference(mean, se).within(-0.05, 0.05) == outcome


def test_reasons_are_asked_in_their_order() -> None:
    every: dict[str, Any] = {
        "tolerance": True,
        "chance": 0.5,
        "searches": Emulated(1, 2),
        "slip": True,
    }
    assert verdict(True, "", **every).status == "reproduced"
    assert verdict(False, "", **every).status == "within search tolerance"
    assert verdict(False, "", chance=0.05, searches=Emulated(1, 2)).status == "within chance"
    late = verdict(False, "", chance=0.04, searches=Emulated(1, 2), slip=True)
    assert late.status == "depends on the search"
    assert "1 of 2 seeds" in late.details
    assert verdict(False, "", searches=Emulated(0, 2), slip=True).status == "slip"
    assert verdict(False, "", searches=Emulated(0, 2)).status == "contradicted"


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
    assert {"forrester-dpe-zero", "piston-slap-isotropic-1se", "forrester-md-score-gap"} <= few
    assert all(verdict_on(i, frame).status == "reproduced" for i in ("forrester-theta-mle",))
    # What needs no repetitions is still judged.
    assert "forrester-theta-mle" not in few


def test_a_few_failed_repetitions_do_not_stop_an_average() -> None:
    frame = paper_rows("simulation")
    claim = BY_ID["simulation-1se-lim"]
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
    assert found.status == "within search tolerance"
    assert "ours 90.017" in found.found
    assert "18.992" in found.found
    assert "not identified" in found.details


def test_both_numbers_are_shown_where_ours_differs() -> None:
    frame = paper_rows("forrester")
    put("forrester/path", "pmle", "theta", 10.554, lam=near(0.0231))(frame)
    found = verdict_on("forrester-nfold-theta", frame)
    assert found.status == "within search tolerance"
    assert "10.554" in found.found
    assert "10.565" in found.found


def test_an_improvement_within_two_standard_errors_is_within_chance() -> None:
    frame = paper_rows("simulation")
    noise = np.resize([1.0, -1.0, -1.0, 1.0], 100)  # its mean over 100 repetitions is 0
    for score, unit in (("rmse", 2.0), ("crps", 1.0)):
        put("simulation/lim", "dpe_1se", score, partial(np.add, 0.3 * unit * noise))(frame)
    found = verdict_on("simulation-1se-lim", frame)
    # The paired differences are -0.1 +- 0.3: a standard error of 0.0302.
    assert "−0.100 ± 0.030" in found.found  # noqa: RUF001
    assert "mean: holds" in found.details
    for score, unit in (("rmse", 2.0), ("crps", 1.0)):
        put("simulation/lim", "dpe_1se", score, partial(np.add, 0.6 * unit * noise))(frame)
    found = verdict_on("simulation-1se-lim", frame)
    assert "mean: open" in found.details
    assert found.status == "within chance"


def test_draws_that_all_match_the_mle_neither_degrade_nor_improve() -> None:
    frame = paper_rows("piston-slap")
    for method in ("pe", "dpe", "dpe_1se"):
        put(ANISO, method, "chosen", 0.0)(frame)
    worse = verdict_on("piston-slap-anisotropic-degradation", frame)
    better = verdict_on("piston-slap-anisotropic-significant", frame)
    assert worse.status == "reproduced"
    assert "no draw is worse" in worse.found
    assert better.status == "contradicted"
    assert "no draw improves" in better.found


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
    assert found.within(0.0, np.inf) == "holds"
    assert found.within(-np.inf, 0.0) == "fails"
    assert mean_of(pd.Series([-1.0, 1.0])).within(0.0, np.inf) == "open"


def test_numbers_for_readers() -> None:
    assert [number(v) for v in (0.00001, 87500.0, -0.123456, 1000.0)] == [
        "1e−5",  # noqa: RUF001
        "87,500",
        "−0.1235",  # noqa: RUF001
        "1000",
    ]
    assert count(pd.Series([0.0, 0.5, 0.5])) == "0 (1×), 0.5000 (2×)"  # noqa: RUF001


def test_the_documentation_lists_every_reading_and_verdict() -> None:
    page = (Path(__file__).parents[2] / "docs" / "study.md").read_text()
    assert readings() in page
    assert all(f"| {status} | {meaning} |" in page for status, meaning in STATUSES.items())
