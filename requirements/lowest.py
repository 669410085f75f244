"""Prints the lowest versions that pyproject.toml claims to work with, as constraints for pip.

With ``--wanted`` it prints what users install instead, bounds as they are, to be locked.
"""

import re
import sys
import tomllib
from pathlib import Path

#: Extras for the development of pengp alone, whose versions no user depends on.
TOOLS = ("bench", "docs", "test", "dev")
#: Packages of the tests whose objects users hand over: the lowest version counts as well.
HANDED_OVER = ("polars",)


def lowest(requirements: list[str]) -> list[str]:
    """Return name==version for each name>=version; other requirements set no lower bound."""
    found = (re.match(r"([\w.-]+)>=([\w.]+)", requirement) for requirement in requirements)
    return [f"{match[1]}=={match[2]}" for match in found if match]


def main(arguments: list[str]) -> None:
    """Print one requirement a line."""
    file = Path(__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    used = [r for name, extra in extras.items() if name not in TOOLS for r in extra]
    used = [r for r in (*project["dependencies"], *used) if not r.startswith("pengp[")]
    handed = [r for r in extras["test"] if r.startswith(HANDED_OVER)]
    lines = used if "--wanted" in arguments else lowest([*used, *handed])
    sys.stdout.write("".join(f"{line}\n" for line in sorted(set(lines))))


if __name__ == "__main__":
    main(sys.argv[1:])
