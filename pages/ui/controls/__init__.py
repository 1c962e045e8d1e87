"""The sidebar: data, algorithm, parameters, and the address that keeps them."""
