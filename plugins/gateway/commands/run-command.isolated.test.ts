import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir, mkdtemp, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Confinement, createConfinement } from "./confinement.ts";
import { type CommandResult, runCommand } from "./run-command.ts";
import { createMark, killOrphans, markName } from "./stragglers.ts";

const path = "/usr/local/bin:/usr/bin:/bin";
let outside: string;
let root: string;

beforeAll(async () => {
  outside = await mkdtemp(join(tmpdir(), "commands-"));
  root = join(outside, "workspace");
  await mkdir(root);
  await writeFile(join(outside, "secret.txt"), "secret");
});
afterAll(() => rm(outside, { recursive: true, force: true }));

const real = createConfinement(path);
const none: Confinement = { check: () => Promise.resolve({ isOn: false, problem: "not installed" }) };
const hasBubblewrap = (await real.check()).isOn;

const memory = 1024 * 1024 * 1024;
const little = 128 * 1024 * 1024;

const isRunning = (word: string) => execFileSync("ps", ["-eo", "args"]).toString().includes(word);

describe.each([
  ["under bubblewrap", real, hasBubblewrap],
  ["without bubblewrap", none, true],
] as const)("a command %s", (_name, confinement, isThere) => {
  const run = (
    command: string,
    more: { timeoutMs?: number; memory?: number; signal?: AbortSignal } = {},
  ): Promise<CommandResult> =>
    runCommand(["/bin/sh", "-c", command], {
      root,
      path,
      hasNetwork: false,
      confinement,
      timeoutMs: 20_000,
      signal: new AbortController().signal,
      keptChars: 8_000,
      memory,
      ...more,
    });

  it.skipIf(!isThere)("answers its exit code and output, and works in the workspace", async () => {
    const result = await run("echo out; echo err >&2; pwd; echo made > made.txt; exit 3");
    expect(result.exitCode).toBe(3);
    expect(result.output).toContain("out\n");
    expect(result.output).toContain("err\n");
    await access(join(root, "made.txt"));
  });

  it.skipIf(!isThere)("sees none of the server's variables", async () => {
    process.env["GATEWAY_TEST_SECRET"] = "hidden";
    const { output } = await run("env");
    delete process.env["GATEWAY_TEST_SECRET"];
    expect(output).not.toContain("hidden");
    expect(output.split("\n").filter((line) => /DATABASE|SECRET|TOKEN/.test(line))).toEqual([]);
  });

  it.skipIf(!isThere)("ends when it waits for input", async () => {
    expect((await run("read line; echo got:$line")).output).toBe("got:\n");
  });

  it.skipIf(!isThere)("is ended after its time, with the children it left behind", async () => {
    const word = `97${process.pid}`;
    const result = await run(`setsid sleep ${word} & sleep ${word}`, { timeoutMs: 500 });
    expect(result.ended).toBe("timeout");
    expect(isRunning(word)).toBe(false);
  });

  it.skipIf(!isThere)("leaves no child behind when it is done itself", async () => {
    const word = `98${process.pid}`;
    expect((await run(`setsid sleep ${word} >/dev/null 2>&1 & echo done`)).output).toBe("done\n");
    expect(isRunning(word)).toBe(false);
  });

  it.skipIf(!isThere)("is ended when it prints for ever, and keeps both ends of a long output", async () => {
    const result = await run("yes");
    expect(result.ended).toBe("output");
    expect(result.output.length).toBeLessThan(8_200);
    const long = await run("echo first; seq 1 20000; echo last");
    expect(long.output).toMatch(/^first\n[\s\S]*characters left out[\s\S]*\nlast\n$/);
  });

  it.skipIf(!isThere)("is ended when it starts too many processes", async () => {
    const word = `60.${process.pid}`;
    const result = await run(`i=0; while [ $i -lt 400 ]; do sleep ${word} & i=$((i+1)); done; wait`, {
      timeoutMs: 60_000,
    });
    expect(result.ended).toBe("processes");
    expect(isRunning(word)).toBe(false);
  });

  it.skipIf(!isThere)("is ended when it forks for ever", async () => {
    const result = await run(": bomb; f() { sleep 0.5; f & f & wait; }; f", { timeoutMs: 60_000 });
    expect(result.ended).toBe("processes");
    expect(isRunning(": bomb")).toBe(false);
  });

  it.skipIf(!isThere)("is ended when all that it started takes too much memory together", async () => {
    const word = `61.${process.pid}`;
    const hold = `(x=$(head -c 20000000 /dev/zero | tr '\\0' x); sleep ${word}) &`;
    const result = await run(`${hold.repeat(20)} wait`, { memory: little, timeoutMs: 60_000 });
    expect(result.ended).toBe("memory");
    expect(isRunning(word)).toBe(false);
  });

  it.skipIf(!isThere)(
    "gives one process no more memory than the whole has, and is the first to go",
    async () => {
      const command = "cat /proc/self/oom_score_adj; head -c 200000000 /dev/zero | tail -n 1 | wc -c";
      const { output, exitCode } = await run(command, { memory: little });
      expect(output).toMatch(/^1000\n[\s\S]*memory/);
      expect(output).not.toContain("200000000");
      expect(exitCode).toBe(0);
    },
  );

  it.skipIf(!isThere)("is ended when its run is stopped", async () => {
    const controller = new AbortController();
    const word = `99${process.pid}`;
    const result = run(`touch begun; sleep ${word}`, { signal: controller.signal });
    await expect
      .poll(() =>
        access(join(root, "begun")).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    controller.abort(new Error("stopped"));
    await expect(result).rejects.toThrow("stopped");
    expect(isRunning(word)).toBe(false);
    await rm(join(root, "begun"));
  });
});

/** Runs a command of a shell under bubblewrap. */
const runConfined = (shell: string, command: string, bytes: number): Promise<CommandResult> =>
  runCommand([shell, "-c", command], {
    root,
    path,
    hasNetwork: false,
    confinement: real,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    keptChars: 8_000,
    memory: bytes,
  });

it.skipIf(!hasBubblewrap)("has a /tmp with a size under bubblewrap", async () => {
  const { output } = await runConfined("/bin/sh", "head -c 100000000 /dev/zero > /tmp/big", little);
  expect(output).toContain("No space left on device");
});

it.skipIf(!hasBubblewrap)("ends a process that hides behind ever new ones under bubblewrap", async () => {
  const word = `heir${process.pid}`;
  await writeFile(join(root, `${word}.sh`), `echo >> ${word}.txt\nsetsid sh ./${word}.sh &\n`);
  const stop = new AbortController();
  const result = runCommand(["/bin/sh", "-c", `sh ./${word}.sh & sleep 300`], {
    root,
    path,
    hasNetwork: false,
    confinement: real,
    timeoutMs: 120_000,
    signal: stop.signal,
    keptChars: 8_000,
    memory,
  });
  const count = async () => (await readFile(join(root, `${word}.txt`), "utf8").catch(() => "")).length;
  await expect.poll(count).toBeGreaterThan(3);
  stop.abort(new Error("stopped"));
  await expect(result).rejects.toThrow("stopped");
  const atEnd = await count();
  await pause(500);
  expect(await count()).toBe(atEnd);
});

it("ends what a server that died left behind, and nothing of servers that live", async () => {
  const [own, namespace] = [await createMark(), await readlink("/proc/self/ns/pid")];
  const gone = [namespace, process.pid, 1, "x"].join("/");
  const nap = (mark: string) => spawn("sleep", ["300"], { env: { PATH: path, [markName]: mark } });
  const [mine, foreign, orphan] = [nap(own), nap("pid:[1]/1/1/x"), nap(gone)];
  const ended = once(orphan, "exit");
  expect(await killOrphans()).toBe(1);
  expect((await ended)[1]).toBe("SIGKILL");
  expect([mine.exitCode, mine.signalCode, foreign.exitCode, foreign.signalCode]).toEqual(
    Array.from({ length: 4 }, () => null),
  );
  mine.kill();
  foreign.kill();
});

it.skipIf(!hasBubblewrap)("reaches nothing outside the workspace under bubblewrap", async () => {
  const command = [
    `cat ${outside}/secret.txt`,
    `echo x > ${outside}/new.txt`,
    "echo x > /usr/new.txt",
    "cat /etc/shadow",
    `ln -s ${outside}/secret.txt soft && cat soft`,
    "mknod device b 8 0",
    "ls /proc | grep -c '^[0-9]'",
    "cat < /dev/tcp/127.0.0.1/5432",
  ].join("; ");
  const result = await runConfined("/bin/bash", command, memory);
  expect(result.isConfined).toBe(true);
  expect(result.output).not.toContain("secret\n");
  expect(result.output).not.toContain("root:");
  await expect(access(join(outside, "new.txt"))).rejects.toThrow();
  await expect(access("/usr/new.txt")).rejects.toThrow();
});
