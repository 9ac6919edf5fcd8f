# SPDX-License-Identifier: GPL-2.0
"""Claims of tests in Python, with the same lines as dev/report.sh."""

import sys

failed = False


def report(good, name, why=""):
    """Print a claim, and the reason if it fails."""
    global failed
    failed = failed or not good
    print(f"ok {name}" if good else f"not ok {name}\n# {why}", flush=True)


def end():
    """Exit with a failure if a claim has failed."""
    sys.exit(failed)
