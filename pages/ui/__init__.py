"""Parts that the pages share: the frame, the theme, graph drawing. No statistics computed here."""
