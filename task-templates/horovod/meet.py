"""Where ranks find each other that talk by Gloo: Horovod's own store, at the launcher. Ends with its parent, mpirun.

    meet.py ADDRESS     prints the port
"""

import os
import sys
import threading
import time

# The template's folder stays as it was: no compiled files in it.
sys.dont_write_bytecode = True
import package

package.lead()
from horovod.runner.http.http_server import RendezvousHandler, RendezvousHTTPServer

parent = os.getppid()
server = RendezvousHTTPServer((sys.argv[1], 0), RendezvousHandler, 0)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
while os.getppid() == parent:
    time.sleep(0.5)
