"""Where Horovod is: in the environment, or in a folder that build.py has made."""

import os
import sys


def lead():
    """Makes `import horovod` work here and in every child."""
    folder = os.environ.get("HOROVOD_PACKAGE")
    if folder:
        # The first is replaced by program.py.
        sys.path.insert(1, folder)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
