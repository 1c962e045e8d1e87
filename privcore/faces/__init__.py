"""How users meet the engine: functions for Python, estimators, and the command line."""
