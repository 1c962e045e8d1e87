"""Tables whose rows stay in files, on a cluster or with several holders."""
