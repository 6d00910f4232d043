import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A Jupyter server with Python kernels. */
export interface JupyterProcess {
  readonly url: string;
  readonly token: string;
  close(): Promise<void>;
}

/** Starts a server on loopback, with a home of its own; `password` is a hash as Jupyter makes it. */
export async function startJupyter(
  python: string,
  { token = "secret-token", password = "" } = {},
): Promise<JupyterProcess> {
  const home = await mkdtemp(join(tmpdir(), "jupyter-"));
  const work = join(home, "work");
  await mkdir(work);
  await writeFile(
    join(home, "jupyter_server_config.py"),
    `c.PasswordIdentityProvider.hashed_password = ${JSON.stringify(password)}\n`,
  );
  const port = await freePort();
  const child = spawn(
    python,
    [
      "-m",
      "jupyter_server",
      "--no-browser",
      "--allow-root",
      "--ip=127.0.0.1",
      `--port=${port}`,
      "--ServerApp.port_retries=0",
      `--ServerApp.root_dir=${work}`,
      `--IdentityProvider.token=${token}`,
    ],
    {
      cwd: work,
      stdio: "ignore",
      env: {
        PATH: "/usr/local/bin:/usr/bin:/bin",
        HOME: home,
        JUPYTER_CONFIG_DIR: home,
        JUPYTER_DATA_DIR: join(home, "data"),
        JUPYTER_RUNTIME_DIR: join(home, "runtime"),
        IPYTHONDIR: join(home, "ipython"),
      },
    },
  );
  const url = `http://127.0.0.1:${port}`;
  await untilUp(`${url}/login`);
  return {
    url,
    token,
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function untilUp(url: string): Promise<void> {
  for (const end = performance.now() + 30_000; performance.now() < end;) {
    if (
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    ) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("Jupyter did not start.");
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
