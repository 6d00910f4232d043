import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { prepareTestDataDir, type TestDataDir } from "#storage/testing.ts";
import { root } from "#test/support/shell.ts";

let place: TestDataDir | undefined;
let npm: ChildProcess | undefined;

afterEach(async () => {
  // The group of the command: whatever a failed test left of it.
  try {
    process.kill(-(npm?.pid as number), "SIGKILL");
  } catch {
    // Nothing is left.
  }
  await place?.remove();
});

interface Started {
  readonly url: string;
  readonly ended: Promise<unknown[]>;
  printed(): string;
}

/** Starts the platform with the command that people type, as the leader of a process group. */
async function npmStart(): Promise<Started> {
  place = await prepareTestDataDir();
  // The scripts before it would install packages below the running tests.
  const child = spawn("npm", ["start", "--ignore-scripts"], {
    cwd: root,
    env: { ...process.env, ...place.env, PORT: "0", HOST: "127.0.0.1", SHUTDOWN_GRACE_SECONDS: "5" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  npm = child;
  let printed = "";
  for (const output of [child.stdout, child.stderr]) {
    output.on("data", (piece: Buffer) => (printed += piece.toString("utf8")));
  }
  const url = await vi.waitFor(
    () => {
      const found = /Millrace is ready: (\S+)/.exec(printed)?.[1];
      expect(found, printed).toBeDefined();
      return found as string;
    },
    { timeout: 90_000, interval: 50 },
  );
  return { url, ended: once(child, "exit"), printed: () => printed };
}

const isServing = (url: string) =>
  fetch(`${url}/health`).then(
    (answer) => answer.ok,
    () => false,
  );

test("SIGTERM to npm start stops the server, and npm ends with its code", { timeout: 120_000 }, async () => {
  const { url, ended, printed } = await npmStart();
  npm?.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(await isServing(url)).toBe(false);
  expect(printed()).toContain("SIGTERM: finishing what runs");
});

test(
  "Ctrl-C, which reaches every process of the command, stops it as well",
  { timeout: 120_000 },
  async () => {
    const { url, ended, printed } = await npmStart();
    process.kill(-(npm?.pid as number), "SIGINT");
    expect(await ended).toEqual([0, null]);
    expect(await isServing(url)).toBe(false);
    expect(printed()).toContain("SIGINT: finishing what runs");
  },
);
