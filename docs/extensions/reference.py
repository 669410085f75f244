"""Pages of the reference: one for each public module and one for each public object.

What is public stands in the ``__all__`` of `pengp` and its folders, and nowhere else: a name that
is added there has its page in the next build.
"""

import importlib
import inspect
import pkgutil
import re
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pengp

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: The command line has a page of its own, written by hand.
NOT_PYTHON = {"pengp.cli"}
FOLDER = "reference"


class Entry(NamedTuple):
    """A public name: where it is imported from, and the page that describes it."""

    module: str
    name: str
    page: str  # dotted, the shortest public path to the object


def public_modules() -> list[str]:
    """Return `pengp` and its public folders."""
    folders = [f"pengp.{m.name}" for m in pkgutil.iter_modules(pengp.__path__)]
    return ["pengp", *(m for m in folders if m not in NOT_PYTHON and _names(m))]


def entries() -> Iterator[Entry]:
    """Yield every name of every ``__all__``; an object that `pengp` has is described there."""
    top = {name: getattr(pengp, name) for name in pengp.__all__}
    for module in public_modules():
        for name in _names(module):
            found = getattr(importlib.import_module(module), name)
            home = "pengp" if top.get(name) is found else module
            yield Entry(module, name, f"{home}.{name}")


def write_pages(folder: Path) -> None:
    """Write one page for each module and object, and leave those that are as they should be."""
    pages = {f"{module}.rst": _module_page(module) for module in public_modules()}
    pages |= {f"objects/{e.page}.rst": _object_page(e) for e in entries()}
    (folder / "objects").mkdir(parents=True, exist_ok=True)
    for path in folder.rglob("*.rst"):
        if path.relative_to(folder).as_posix() not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def comment_of(name: str) -> str:
    """Return the comment ``#:`` above the assignment to a name in some module of pengp."""
    pattern = re.compile(rf"((?:^#: ?.*\n)+){name}\b[^=\n]*=", re.MULTILINE)
    for path in sorted(Path(pengp.__path__[0]).rglob("*.py")):
        if found := pattern.search(path.read_text(encoding="utf-8")):
            return re.sub(r"^#: ?", "", found[1], flags=re.MULTILINE).strip()
    return ""


def _names(module: str) -> list[str]:
    return list(getattr(importlib.import_module(module), "__all__", []))


def _title(text: str, under: str = "=") -> str:
    return f"{text}\n{under * len(text)}\n\n"


def _module_page(module: str) -> str:
    """Return the page of a module: its docstring, and a line and a link for each object."""
    own = [e for e in entries() if e.module == module]
    rows = [f"   * - :py:obj:`{e.name} <{e.page}>`\n     - {_summary(e)}\n" for e in own]
    pages = [e.page for e in own if e.page.rpartition(".")[0] == module]
    return (
        _title(module)
        + f".. py:module:: {module}\n\n{_text(importlib.import_module(module))}\n\n"
        + ".. list-table::\n   :widths: 35 65\n   :class: objects\n\n"
        + "".join(rows)
        + "\n.. toctree::\n   :hidden:\n\n"
        + "".join(f"   {page.rpartition('.')[2]} <objects/{page}>\n" for page in pages)
    )


def _summary(entry: Entry) -> str:
    """Return the first sentence about an object."""
    found = _value(entry)
    text = comment_of(entry.name) if _is_data(found) else _text(found)
    return " ".join(text.split("\n\n")[0].split())


def _text(found: Any) -> str:
    return "\n".join(escape((inspect.getdoc(found) or "").splitlines()))


def _value(entry: Entry) -> Any:
    return getattr(importlib.import_module(entry.module), entry.name)


def _is_data(found: Any) -> bool:
    return not (inspect.isclass(found) or inspect.isroutine(found))


def _object_page(entry: Entry) -> str:
    found, (module, _, name) = _value(entry), entry.page.rpartition(".")
    page = _title(entry.page) + f".. currentmodule:: {module}\n\n"
    if _is_data(found):
        page += _data(name, found)
    elif inspect.isclass(found):
        page += f".. autoclass:: {name}\n   :members:\n   :inherited-members:\n"
    else:
        page += f".. autofunction:: {name}\n"
    return page + f"\n.. minigallery:: {entry.page}\n   :add-heading: Tutorials that use it\n"


def _data(name: str, found: Any) -> str:
    """Return the description of a constant: its comment, and the records of a registry."""
    body = [comment_of(name), ""]
    if isinstance(found, Mapping):
        body += [".. list-table::", "   :header-rows: 1", "", "   * - name", "     - what it is"]
        for key, record in found.items():
            body += [f"   * - ``{key}``", f"     - {_label(record)}"]
    elif isinstance(found, types.UnionType | str | int | float) or "typing" in repr(type(found)):
        body += [".. code-block:: python", "", f"   {name} = {found!r}".replace("~", "")]
    indented = "".join(f"   {line}".rstrip() + "\n" for line in "\n".join(body).splitlines())
    return f".. py:data:: {name}\n\n{indented}"


def plain(line: str) -> str:
    """Return a line of a docstring with what reStructuredText would take for markup escaped.

    Docstrings here are plain text: backquotes are the only markup, ``lam_`` and |x| stand for
    themselves.
    """
    if re.match(r"\s*\w+ : ", line):  # numpydoc escapes such names itself
        return line
    pieces = re.split(r"(``.*?``|`.*?`)", line)
    pieces[::2] = [re.sub(r"(\w)_(?!\w)", r"\1\_", p).replace("|", r"\|") for p in pieces[::2]]
    return "".join(pieces)


def escape(lines: list[str]) -> list[str]:
    """Return a docstring's lines as `plain` makes them, but examples with their output as given."""
    written, in_example = [], False
    for line in lines:
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        written.append(line if in_example else plain(line))
    return written


def _escape(
    app: "Sphinx", what: str, name: str, found: Any, options: Any, lines: list[str]
) -> None:
    lines[:] = escape(lines)


def _label(record: Any) -> str:
    """Return what a record is called, or else what is said about it."""
    for field in ("label", "title"):
        if text := getattr(record, field, None):
            return str(text)
    return plain(str(getattr(record, "reference", record)))


def _skip(app: "Sphinx", what: str, name: str, member: Any, skip: bool, options: Any) -> bool:
    """Leave out what a class inherits from other packages, which document it themselves."""
    found = member.fget if isinstance(member, property) else inspect.unwrap(member)
    module = getattr(found, "__module__", None) or "pengp"
    return skip or not str(module).startswith("pengp")


def _elsewhere(app: "Sphinx", env: Any, node: Any, content: Any) -> Any:
    """Link a name that is public in several modules, or stands alone, to its one page."""
    target = str(node.get("reftarget", ""))
    pages = {e.page for e in entries() if target in (f"{e.module}.{e.name}", e.name)}
    if node.get("refdomain") != "py" or len(pages) != 1:
        return None
    domain, builder, page = env.get_domain("py"), app.builder, pages.pop()
    return domain.resolve_xref(env, node["refdoc"], builder, "obj", page, node, content)


def setup(app: "Sphinx") -> dict[str, bool]:
    """Write the pages before Sphinx reads any."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / FOLDER), priority=100)
    app.connect("autodoc-skip-member", _skip)
    app.connect("missing-reference", _elsewhere)
    app.connect("autodoc-process-docstring", _escape, priority=100)  # before numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
