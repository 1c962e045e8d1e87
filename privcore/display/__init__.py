"""Results as drawings, sentences, pages and the commands that reproduce them."""
