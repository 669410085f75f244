"""The page: sections for every output, and one HTML file around them."""

import base64
import gzip
import hashlib
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import numpy as np
from plotly.offline import get_plotlyjs

import pengp
from pengp._core.linalg import ONE_THREAD
from pengp.estimators import BayesianGPRegressor
from pengp.report import sentences, settings, tables
from pengp.report.averages import output_of
from pengp.report.beside import paper_fit
from pengp.report.choice import cv_curve, stability
from pengp.report.contours import contour_plots
from pengp.report.effects import effects_part
from pengp.report.heldout import held_out_plots, held_out_sentence, held_out_table
from pengp.report.likelihood import likelihood_plots
from pengp.report.next_runs import next_part
from pengp.report.optima import optima_part
from pengp.report.outcomes import outcomes_part
from pengp.report.payload import Payload
from pengp.report.prediction import prediction_plots, score_line
from pengp.report.response import slice_plots
from pengp.report.subject import Estimator, Subject, subjects
from pengp.report.text import counted, lam_is, plain
from pengp.report.theta import theta_path
from pengp.report.whatif import what_if, why_not


def render(model: Estimator, info: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the report as one HTML document, and what it says of the paper's choice."""
    payload = Payload()
    with ONE_THREAD:  # small matrices: threads only wait for each other
        found = subjects(model, info)
        outputs = _outputs(model, found, info, payload)
    scripts = {
        "plotly": get_plotlyjs(),
        "behaviour": _file("report.js"),
        "what_if": _file("whatif.js"),
    }
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pengp.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("report.html").render(
        title=_title(found),
        subtitle=_subtitle(found[0], info),
        policy=_policy(scripts.values()),
        css=_file("report.css"),
        plotly=_packed(scripts["plotly"]),
        behaviour=scripts["behaviour"],
        what_if=scripts["what_if"],
        data=payload.to_json(),
        outputs=outputs,
        origin=settings.origin(info),
        parameters=settings.parameters(model),
        versions=settings.versions(),
        version=pengp.__version__,
    )
    told = {o["response"]: o["sentences"].get("beside") for o in outputs}
    several = len(outputs) > 1
    return page, [f"{name}: {said}" if several else said for name, said in told.items() if said]


def _file(name: str) -> str:
    """Return a file of the templates."""
    return files("pengp.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _packed(script: str) -> str:
    """Return a script compressed, as base64; the same bytes for the same script."""
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode("ascii")


def _policy(scripts: Any) -> str:
    """Return a policy by which only these scripts run, and nothing leaves the page."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(d).decode('ascii')}'" for d in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _title(found: list[Subject]) -> str:
    """Return the report's title."""
    if len(found) == 1:
        return f"Surrogate of {found[0].view.response}"
    return f"Surrogates of {len(found)} responses"


def _subtitle(subject: Subject, info: Mapping[str, Any]) -> str:
    """Return what the surrogate was made from, and when."""
    parts = [
        f"{counted(len(subject.view.y), 'run')} of a simulator with "
        f"{counted(len(subject.view.names), 'input')}"
    ]
    if info.get("source"):
        parts.append(f"from {plain(info['source'])}")
    if info.get("created"):
        parts.append(f"made {_when(plain(info['created']))}")
    return ", ".join(parts)


def _when(created: str) -> str:
    """Return a time in ISO form as a reader would write it; anything else as it is."""
    try:
        return f"{datetime.fromisoformat(created):%Y-%m-%d %H:%M %Z}".strip()
    except ValueError:
        return created


def _outputs(
    model: Estimator, found: list[Subject], info: Mapping[str, Any], payload: Payload
) -> list[dict[str, Any]]:
    """Return what the template shows of every output."""
    if not isinstance(model, BayesianGPRegressor):
        return [_output(subject, payload) for subject in found]
    papers = subjects(paper_fit(model), info, found[0].view.names, prefix="p")
    return [output_of(own, paper, payload) for own, paper in zip(found, papers, strict=True)]


def _output(subject: Subject, payload: Payload) -> dict[str, Any]:
    """Return what the template shows of one output."""
    payload.state[subject.lam_key] = subject.place
    choice_plots = [cv_curve(subject, payload), stability(subject, payload)]
    return {
        "kind": "penalized",
        "key": subject.key,
        "response": subject.view.response,
        "held_out": held_out_plots(subject, payload),
        "tiles": sentences.tiles(subject),
        "sentences": {
            name: getattr(sentences, name)(subject)
            for name in ("penalty", "choice", "inputs", "error", "held", "runs", "modes", "later")
        }
        | {"held_out": held_out_sentence(subject)},
        "cautions": sentences.cautions(subject),
        "slider": _slider(subject, payload),
        "score_line": _score_line(subject, payload),
        "predictions": prediction_plots(subject, payload),
        "effects": effects_part(subject, payload),
        "outcomes": outcomes_part(subject, payload),
        "optima": optima_part(subject),
        "what_if": what_if(subject, payload),
        "why_not": why_not(subject.view),
        "next_runs": next_part(subject, payload),
        "path": theta_path(subject, payload) if len(subject.lams) > 1 else None,
        "choice": [plot for plot in choice_plots if plot is not None],
        "slices": slice_plots(subject, payload),
        "contours": contour_plots(subject, payload),
        "likelihood": likelihood_plots(subject, payload),
        "tables": _all_tables(subject, payload),
        "estimates": settings.estimates(subject),
    }


def _all_tables(subject: Subject, payload: Payload) -> dict[str, tables.Table]:
    """Return the tables of one output."""
    return {
        "held": held_out_table(subject),
        "scores": tables.scores_table(subject, payload),
        "inputs": tables.inputs_table(subject, payload),
        "modes": tables.modes_table(subject),
        "runs": tables.runs_table(subject),
    }


def _score_line(subject: Subject, payload: Payload) -> dict[str, str]:
    """Return the line of scores that follows the slider."""
    id = f"{subject.key}-score-line"
    texts = [f"At {lam_is(lam)}: {score_line(subject, k)}" for k, lam in enumerate(subject.lams)]
    payload.bind_element(id, "text", payload.words(id, texts), [subject.lam_key])
    return {"id": id, "text": texts[subject.place]}


def _slider(subject: Subject, payload: Payload) -> dict[str, Any] | None:
    """Return the slider over lambda, None where there is one lambda only."""
    L, id = len(subject.lams), f"{subject.key}-slider"
    if L < 2:
        return None
    marks = _marks(subject)
    words = {place: word for place, word, _ in marks}
    texts = [
        lam_is(lam) + (f" ({words[k]})" if k in words else "") for k, lam in enumerate(subject.lams)
    ]
    by = [subject.lam_key]
    payload.bind_element(f"{id}-shown", "text", payload.words(id, texts), by)
    payload.bind_element(id, "valuetext", id, by)
    off = payload.numbers(f"{id}-off", np.arange(L) != subject.place)
    payload.bind_element(f"{id}-shown", "off", off, by)
    return {
        "id": id,
        "key": subject.lam_key,
        "last": L - 1,
        "chosen": subject.place,
        "text": texts[subject.place],
        "marks": [
            {"at": round(place / (L - 1), 4), "word": word, "side": side}
            for place, word, side in marks
        ],
    }


def _marks(subject: Subject) -> list[tuple[int, str, str]]:
    """Return place, words and side of the track for the choices of lambda."""
    words: dict[int, list[str]] = {subject.place: ["chosen"]}
    if subject.view.table is not None:
        for attribute, word in (("lam_min_", "best"), ("lam_1se_", "1 SE")):
            lam = float(subject.view.own(getattr(subject.view.estimator, attribute)))
            words.setdefault(int(np.flatnonzero(subject.lams == lam)[0]), []).append(word)
    return [
        (place, ", ".join(said), "above" if place == subject.place else "below")
        for place, said in words.items()
    ]
