"""No core file holds the rows of a table."""

import subprocess
import sys

from privcore.intake.decoding import survives


def test_no_core_file_holds_rows():
    """Neither of the process that looks at a file, nor of the command line."""
    limit = "import resource; sys.exit(resource.getrlimit(resource.RLIMIT_CORE)[0])"
    assert survives(limit, b"rows")
    own = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
from privcore.__main__ import main
sys.argv = ["causalveil", "--version"]
try:
    main()
except SystemExit:
    pass
{limit}
"""
    assert not subprocess.run([sys.executable, "-c", own], stdout=subprocess.DEVNULL).returncode
