"""Prints the bill of materials of the locked set, requirements/lock.txt, as CycloneDX JSON.

The same lock gives the same bytes: there is no date, and the serial number is a digest.
"""

import json
import re
import sys
import uuid
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[1]
#: Namespace of the serial numbers.
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "pengp")


def version() -> str:
    """Return the version of pengp, without importing it."""
    text = (_ROOT / "src" / "pengp" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found is not None
    return found[1]


def entries(lock: str) -> list[tuple[str, str, list[str], list[str]]]:
    """Return name, version, hashes and dependants of each package of a lock by pip-compile."""
    found: list[tuple[str, str, list[str], list[str]]] = []
    for line in lock.splitlines():
        if start := re.match(r"([A-Za-z0-9._-]+)==([^\s;\\]+)", line):
            found.append((start[1], start[2], [], []))
        elif digest := re.search(r"--hash=sha256:([0-9a-f]{64})", line):
            found[-1][2].append(digest[1])
        elif via := re.match(r"\s+#\s+(?:via\s+)?([A-Za-z0-9._-]+)(?:\s.*)?$", line):
            found[-1][3].append(via[1])
    return found


def reference(name: str, number: str) -> str:
    """Return the package URL."""
    return f"pkg:pypi/{name.lower().replace('_', '-')}@{number}"


def bill(lock: str) -> dict[str, Any]:
    """Return the bill of materials of a lock."""
    packages = entries(lock)
    references = {name: reference(name, number) for name, number, _, _ in packages}
    root = reference("pengp", version())
    needs: dict[str, set[str]] = {ref: set() for ref in (root, *references.values())}
    for name, _, _, parents in packages:
        for parent in parents:
            if parent != "via":
                needs[references.get(parent, root)].add(references[name])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, version() + lock)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": root,
                "name": "pengp",
                "version": version(),
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": references[name],
                "name": name,
                "version": number,
                "purl": references[name],
                "properties": [{"name": "sha256 of a file", "value": h} for h in hashes],
            }
            for name, number, hashes, _ in packages
        ],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(needed)} for ref, needed in sorted(needs.items())
        ],
    }


def main() -> None:
    """Print the bill of the lock."""
    lock = (_ROOT / "requirements" / "lock.txt").read_text(encoding="utf-8")
    sys.stdout.write(json.dumps(bill(lock), indent=1) + "\n")


if __name__ == "__main__":
    main()
