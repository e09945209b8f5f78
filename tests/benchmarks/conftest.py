import os
import sys

# The benchmarks are programs, not a package: they import each other from their folder.
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "benchmarks"))
