// A proxy between a browser and the server, whose connections can be cut.

import { connect, createServer } from "node:net";

export async function proxy(target) {
  const { hostname, port } = new URL(target);
  const open = new Set();
  let through = true;
  const listener = createServer((near) => {
    if (!through) {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    for (const [one, other] of [[near, far], [far, near]]) {
      open.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise((done) => listener.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${listener.address().port}`,
    cut() {
      through = false;
      for (const socket of open) socket.destroy();
    },
    mend() {
      through = true;
    },
    close() {
      this.cut();
      listener.close();
    },
  };
}
