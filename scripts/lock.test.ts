import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { takeLock } from "./lock.mjs";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "lock-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const code = `
  import { appendFileSync } from "node:fs";
  import { takeLock } from ${JSON.stringify(new URL("lock.mjs", import.meta.url).href)};
  const [folder, name] = process.argv.slice(1);
  const release = await takeLock(folder + "/below/lock");
  for (const word of ["begins", "ends"]) {
    appendFileSync(folder + "/log", name + " " + word + "\\n");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  release();
`;

test("processes take a lock one after another", async () => {
  const names = ["a", "b", "c"];
  const ends = names.map((name) =>
    once(spawn(process.execPath, ["--input-type=module", "-e", code, folder, name]), "exit"),
  );
  expect((await Promise.all(ends)).map(([status]) => status)).toEqual([0, 0, 0]);
  const lines = readFileSync(join(folder, "log"), "utf8").trim().split("\n");
  const order = lines.filter((line) => line.endsWith("begins")).map(([name]) => name);
  expect(order.toSorted()).toEqual(names);
  expect(lines).toEqual(order.flatMap((name) => [`${name} begins`, `${name} ends`]));
});

test("the lock of a process that is gone counts for nothing", async () => {
  const gone = spawn(process.execPath, ["-e", ""]);
  await once(gone, "exit");
  const path = join(folder, "lock");
  writeFileSync(path, String(gone.pid));
  const release = await takeLock(path);
  expect(readFileSync(path, "utf8")).toBe(String(process.pid));
  release();
});
