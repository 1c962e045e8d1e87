# `make app` serves the dashboard; `make test` runs what a change can break, in minutes;
# `make test-all` adds long audits and statistics.  Each has its own environment, rebuilt only when
# the list of packages it installs changes.
PYTHON := $(shell command -v python3.11 || command -v python3)
APP := .venv
TEST := .venv-test
DOCS := .venv-docs
PEERS := .venv-peers

# Modules are compiled once, whatever the environment says: tests start dozens of processes.
test test-all test-peers: export PYTHONDONTWRITEBYTECODE :=
# Two processes; a file stays with one of them, so that its tests share what they set up.
PYTEST := $(TEST)/bin/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: app test test-all test-peers lint docs clean

app: $(APP)/.installed
	$(APP)/bin/python -m streamlit run app.py

test: lint
	$(PYTEST) -m "not long"

# Property tests run in both, here with all of their examples.
test-all: test test-peers
	$(PYTEST) -m "long or hypothesis" --hypothesis-profile full

# Graphs to and from libraries that want other versions than the engine is tested with.
test-peers: $(PEERS)/.installed
	$(PEERS)/bin/python -m pytest tests/peers

lint: $(TEST)/.installed
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy
	$(TEST)/bin/python -m tests.lint

# In site/, offline; a broken link, a failing notebook or any other warning is an error.
docs: $(DOCS)/.installed
	PYTHONPATH=$(CURDIR) NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build --strict

clean:
	rm -rf $(APP) $(TEST) $(DOCS) $(PEERS) site .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(APP)/.installed: requirements.txt
$(TEST)/.installed: requirements-test.txt requirements.txt
$(DOCS)/.installed: requirements-docs.txt requirements.txt
$(PEERS)/.installed: requirements-peers.txt

# Loops are compiled here (half a minute, once), so that no first run of a user waits for that.
# The stamp is written last, so that an installation cut short is started over.
%/.installed:
	$(if $(PYTHON),,$(error Python 3.11 or later is needed and was not found))
	rm -rf $*
	$(PYTHON) -m venv $*
	$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	$*/bin/python -c "from privcore import kernels; kernels.load()"
	touch $@
