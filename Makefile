# What a checkout needs. Everything runs in an environment of locked packages, which is made when it is missing; it may be elsewhere, and of another
# Python: make demo VENV=/tmp/venv PYTHON=python3.12
PYTHON = python3
VENV = .venv
python = $(VENV)/bin/python
pip = $(python) -m pip --disable-pip-version-check --quiet
# What is imported is compiled once, at its first import, and not in each of hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE
# What is never imported need not be compiled. The pip of Debian 12 warns of its own way to build a source package.
install = $(pip) install --no-compile --no-deps --require-hashes --use-pep517

.PHONY: demo test test-slow archive lint docs web bench clean

demo: $(VENV)/sqlstream
	$(VENV)/bin/sqlstream demo

# Tests of streams wait as often as they work: three processes keep two cores busy.
# A process of pytest-xdist's that dies ends the run: what replaces it is given no group of tests, and the run would wait for ever.
test: archive
	$(python) -m pytest --dist loadgroup --no-loadscope-reorder -n 3 --max-worker-restart 0 -r s --durations 10 --junitxml build/tests.xml

test-slow: archive
	$(python) -m pytest -m slow

# The classes of Spark as a JVM has them in its memory: each JVM of the tests starts with them.
archive: $(VENV)/dev
	$(python) -m sqlstream.cli.archiving

lint: $(VENV)/dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check --quiet .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	@# This writes the assertions of the tests anew, which each process of a run would do.
	@found=$$($(python) -m pytest --collect-only -qqq) || { echo "$$found"; exit 1; }

docs: $(VENV)/dev
	$(python) docs/build.py

# The page's script and style sheet are in the package as these sources give them; its Node is one of the packages. `npm run build` writes them.
web: $(VENV)/dev
	cd web && PATH="$(abspath $(VENV))/bin:$$PATH" && npm ci --silent && npm run --silent check

bench: $(VENV)/dev
	$(python) -m benchmarks.startup

clean:
	rm -rf $(VENV) build *.egg-info benchmarks/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

# An environment of the packages of a lock, and in it this checkout; for development the benchmarks with their connector, too.
$(VENV)/sqlstream $(VENV)/dev: $(VENV)/%: requirements/%.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; $(PYTHON) is " + sys.version.split()[0])'
	$(pip) --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Downloading the packages of requirements/$*.lock into $(VENV), once: half a gigabyte, most of it pyspark, about two minutes"
	@awk '/^[^ #]/ { wanted = /^setuptools==/ } wanted' $< >$(VENV)/build.lock
	@$(install) -r $(VENV)/build.lock
	@$(install) --no-build-isolation -r $<
	@$(pip) install --no-deps --no-build-isolation --editable . $(if $(filter dev,$*),--editable benchmarks)
	@$(pip) check
	@touch $@

$(VENV)/dev: benchmarks/pyproject.toml
