"""Which DAGs are likely given what was released: their score, the best of them, a sampler."""
