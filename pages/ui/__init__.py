"""What the pages share: the frame, the theme, graph drawing.  No statistics live here."""
