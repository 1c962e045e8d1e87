"""Parts that the pages share: the frame, the theme, graph drawing. It computes no statistics."""
