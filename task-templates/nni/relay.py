"""What NNI starts for a trial, in the place of the trial's program: brings the trial to the manager, and ends as it does.

NNI stops a trial by an interrupt: the manager hears by the broken line that nobody waits any more.
"""

import os
import signal
import sys

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import link

# What ends by the signal itself was stopped, for NNI; what ends with a code has failed.
signal.signal(signal.SIGINT, signal.SIG_DFL)
try:
    stream = link.connect(role="relay")
except ConnectionError as error:
    sys.exit(str(error))
link.send(stream, {name: value for name, value in os.environ.items() if name.startswith("NNI_")})
ended = link.receive(stream)
sys.exit("the manager went away" if ended is None else ended["exit"])
