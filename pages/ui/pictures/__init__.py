"""Pictures for slides (PNG, SVG and PDF), a page to print, and a notebook."""
