"""Pictures for slides (PNG, SVG and PDF), a page to print, and a notebook."""

from pages.ui.pictures.buttons import chart_buttons, picture_buttons
from pages.ui.pictures.graphs import graph_picture, pair_picture
from pages.ui.pictures.notebook import notebook
from pages.ui.pictures.page import run_networks, run_page
from pages.ui.pictures.plots import chart_picture
from pages.ui.pictures.run import RunPictures, run_lines
from pages.ui.pictures.sheet import Form

__all__ = [
    "Form",
    "RunPictures",
    "chart_buttons",
    "chart_picture",
    "graph_picture",
    "notebook",
    "pair_picture",
    "picture_buttons",
    "run_lines",
    "run_networks",
    "run_page",
]
