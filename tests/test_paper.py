"""The paper on the software has the header, the sections and the references that it needs."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "paper" / "paper.md").read_text()
BIB = (ROOT / "paper" / "paper.bib").read_text()
HEADER, BODY = TEXT.removeprefix("---\n").split("\n---\n", 1)


def test_the_header_has_what_the_journal_asks_for() -> None:
    keys = re.findall(r"^(\w+):", HEADER, re.MULTILINE)
    assert keys == ["title", "tags", "authors", "affiliations", "date", "bibliography"]
    assert (ROOT / "paper" / re.findall(r"^bibliography: (\S+)", HEADER, re.MULTILINE)[0]).is_file()
    named = re.findall(r"affiliation: (\d+)", HEADER)
    assert set(named) == set(re.findall(r"index: (\d+)", HEADER))


def test_the_sections_are_there_and_the_text_is_short() -> None:
    sections = re.findall(r"^# (.+)$", BODY, re.MULTILINE)
    assert sections[:3] == ["Summary", "Statement of need", "Comparison"]
    assert sections[-1] == "References"
    assert 250 < len(BODY.split()) < 1000


def test_citations_and_entries_agree() -> None:
    cited = set(re.findall(r"@(\w+)", BODY))
    entries = re.findall(r"^@\w+\{(\w+),", BIB, re.MULTILINE)
    assert len(entries) == len(set(entries))
    assert cited == set(entries)
    for entry in BIB.split("\n\n"):
        assert entry.count("{") == entry.count("}")
        assert all(f"  {key} = {{" in entry for key in ("author", "title", "year"))
