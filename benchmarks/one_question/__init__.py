"""Three questions that need no whole graph, and what each costs and answers."""
