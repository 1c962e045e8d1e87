"""CausalVeil's engine: differentially private causal graph discovery."""

__version__ = "0.1.0"
