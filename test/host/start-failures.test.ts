import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { prepareTestDataDir } from "#storage/testing.ts";
import { startProcess } from "#test/support/process.ts";
import { root } from "#test/support/shell.ts";

// Each start compiles the program anew where the machine is busy with other suites.
vi.setConfig({ testTimeout: 300_000 });

let folder: string;
let occupant: Server;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "start-"));
  occupant = createServer().listen(0, "127.0.0.1");
  await once(occupant, "listening");
  ({ port } = occupant.address() as AddressInfo);
});
afterAll(async () => {
  occupant?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs the program until it ends, from the first byte to the last. */
async function run(env: Record<string, string>) {
  const child = spawn(process.execPath, ["--no-node-snapshot", join(root, "plugins/serve.ts")], {
    cwd: root,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOST: "127.0.0.1",
      PORT: String(port),
      DATA_DIR: join(folder, "data"),
      NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compiled"),
      ...env,
    },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (piece: Buffer) => (printed += piece.toString("utf8")));
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, lines: printed.split("\n").filter((line) => line !== "") };
}

const sentence = () => `Millrace cannot start: port ${port} on 127.0.0.1 is used by another process.`;

test("a port in use ends the start with one sentence, before anything is written", async () => {
  const { code, lines } = await run({});
  expect({ code, lines }).toEqual({ code: 1, lines: [expect.stringContaining(sentence())] });
  expect(lines[0]).toContain("Set PORT");
  expect(await readdir(folder)).toEqual([]);
});

test("the sentence comes with its stack where the log level asks for that", async () => {
  const { code, lines } = await run({ GLOBAL_LOG_LEVEL: "debug" });
  expect([code, lines[0]]).toEqual([1, expect.stringContaining(sentence())]);
  expect(lines.filter((line) => /^\s+at /.test(line)).length).toBeGreaterThan(0);
});

test("with LOG_FORMAT=json a failure that nobody expected is a line of JSON, too", async () => {
  const file = join(folder, "file");
  await writeFile(file, "");
  const { code, lines } = await run({ LOG_FORMAT: "json", PORT: "0", DATA_DIR: join(file, "data") });
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect([code, records.at(-1)]).toEqual([
    1,
    {
      level: "fatal",
      time: expect.any(String),
      msg: expect.stringMatching(/^Millrace cannot start: .*ENOTDIR/),
    },
  ]);
  expect(records.length).toBeLessThan(6);
  await rm(file);
});

test("with LOG_FORMAT=json a whole life is JSON, warnings of settings included", async () => {
  const place = await prepareTestDataDir();
  // A value that is replaced is warned of before the log is there.
  const server = await startProcess({
    ...place.env,
    LOG_FORMAT: "json",
    GLOBAL_LOG_LEVEL: "INFO",
    ENV: "odd",
  });
  expect((await fetch(`${server.url}/ready`)).status).toBe(200);
  await server.stop();
  await place.remove();
  const lines = server
    .output()
    .split("\n")
    .filter((line) => line !== "");
  const texts = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(texts).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^ENV /),
      "Opening the database",
      `Millrace is ready: ${server.url}`,
      "SIGTERM: finishing what runs",
    ]),
  );
});
