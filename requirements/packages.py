"""Builds wheel and sdist, and tries both in a clean environment of every Python on the PATH.

``python requirements/packages.py`` needs the package ``build``; it takes python3.11 and later by
these names and prints a line for each. Each environment gets the package with its command line and
report from the archive alone, checks dependencies, and runs `requirements/smoke.py`.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).parents[1]
#: Minor versions of Python 3 that are looked for.
_MINORS = range(11, 20)


def interpreters() -> list[str]:
    """Return the Pythons from 3.11 on that the PATH has and that run."""
    names = [f"python3.{minor}" for minor in _MINORS]
    found = [path for path in map(shutil.which, names) if path is not None]
    tried = [subprocess.run([p, "-c", "import venv"], check=False) for p in found]
    return [path for path, done in zip(found, tried, strict=True) if done.returncode == 0]


def try_out(python: str, archive: Path, folder: Path) -> None:
    """Install an archive into a new environment and run the smoke test far from the sources."""
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    own = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    wanted = f"{archive}[cli,report]"
    subprocess.run([own, "-m", "pip", "install", "-qq", wanted], check=True)
    subprocess.run([own, "-m", "pip", "check"], check=True, stdout=subprocess.DEVNULL)
    smoke = _ROOT / "requirements" / "smoke.py"
    subprocess.run([own, "-I", str(smoke)], check=True, cwd=folder)


def main() -> None:
    """Build, and try every archive with every Python."""
    pythons = interpreters()
    if not pythons:
        sys.exit("no python3.11 or later is on the PATH.")
    with tempfile.TemporaryDirectory() as place:
        dist, folder = Path(place) / "dist", Path(place) / "environment"
        build = [sys.executable, "-m", "build", "--outdir", str(dist), str(_ROOT)]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        for python in pythons:
            for archive in sorted(dist.iterdir()):
                try_out(python, archive, folder)
                sys.stdout.write(f"{Path(python).name}: {archive.name} works\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
