"""Every Python block of the README and the documentation runs and shows what it says."""

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
WITH_CODE = [p for p in PAGES if BLOCK.search(p.read_text())]


@pytest.mark.parametrize("page", WITH_CODE, ids=[p.name for p in WITH_CODE])
def test_the_code_of_a_page_does_what_it_says(page: Path) -> None:
    names: dict[str, Any] = {}
    for number, block in enumerate(BLOCK.findall(page.read_text())):
        label = f"{page.name}, block {number}"
        if ">>>" not in block:
            exec(compile(block, label, "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, label, str(page), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        runner.run(test, clear_globs=False)
        names.update(test.globs)
        assert runner.failures == 0, label
