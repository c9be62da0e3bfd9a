// A development or production server of somebody else's tool, on a free port of 127.0.0.1.
import { spawn } from "node:child_process";
import { createServer } from "node:net";

/**
 * Starts a JavaScript command in `folder` and waits until it says `ready`. `args` makes its arguments of a free port.
 * `{ url, stop }`: `stop` ends it with the processes that it started.
 */
export async function startServer(folder, command, args, ready) {
  const port = await freePort();
  // A group of its own, so that what it starts ends with it.
  const child = spawn(process.execPath, [command, ...args(port)], { cwd: folder, detached: true });
  const stop = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, "SIGTERM");
  };
  try {
    await says(child, ready);
  } catch (error) {
    stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}`, stop };
}

const freePort = () =>
  new Promise((resolve) => {
    const socket = createServer().listen(0, "127.0.0.1", () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });

/** Resolves when the child says `ready`; rejects with its words if it ends first. */
const says = (child, ready) =>
  new Promise((resolve, reject) => {
    let said = "";
    const hear = (bytes) => {
      said += bytes;
      if (ready.test(said)) resolve();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    child.once("close", (code) =>
      reject(new Error(`${child.spawnargs.join(" ")} ended with ${code}\n${said}`)),
    );
  });
