"""Settings of the documentation; `make docs` builds it into site/."""

import sys
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # the folder extensions

import pengp  # noqa: E402

mpl.use("Agg")

project = "pengp"
author = "pengp developers"
version = release = pengp.__version__
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "extensions.reference",
    "extensions.mathml",
]
exclude_patterns = ["extensions", "_templates", "**/README.txt", "**/sg_execution_times.rst"]
nitpicky = False  # docstrings name shapes and kinds, not only classes
suppress_warnings = ["config.cache"]  # the gallery's settings hold a function

# Text
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 3
smartquotes = False  # names in quotes are code
default_role = "py:obj"  # `name` is a link where the name is public
autodoc_typehints = "none"  # types stand in the docstrings, with shapes
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
html_math_renderer = "mathml"
math_numfig = False
copybutton_exclude = ".linenos, .gp, .go"  # prompts and output are not copied

# Tutorials
sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / "tutorials")],
    "gallery_dirs": ["tutorials"],
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib",),
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "backreferences_dir": "backreferences",
    "doc_module": ("pengp",),
    "reference_url": {"pengp": None},
    "matplotlib_animations": False,
    "image_srcset": ["2x"],
    "ignore_repr_types": r"matplotlib|list",  # what plotting returns
    "thumbnail_size": (400, 280),
}

# Pages
html_theme = "pydata_sphinx_theme"
html_title = "pengp"
html_static_path = ["_static"]
html_css_files = ["pengp.css"]
html_js_files = ["pengp.js"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_sidebars: dict[str, list[str]] = {"index": [], "start/index": []}
html_theme_options = {
    "logo": {"text": "pengp"},
    "show_prev_next": True,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copyright = "pengp developers, MIT license"
