"""Formulas as MathML, which browsers draw themselves: no script, no font and no network."""

from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def inline(translator: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def display(translator: Any, node: nodes.math_block) -> None:
    """Write a formula of its own line, with its number."""
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({node["number"]})</span>')
    formula = tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<span class="formula">{formula}</span></div>\n')
    raise nodes.SkipNode


def setup(app: "Sphinx") -> dict[str, bool]:
    """Make the renderer known as `mathml`."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
