import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Logger } from "./log.ts";
import { createDisk, createWarnings } from "./disk.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "disk-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A small disk of its own, which only root and some containers may have. */
function mount(...options: string[]): boolean {
  try {
    execFileSync("mount", [...options, folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const silent = { error: () => {}, info: () => {} } as unknown as Logger;
const open = (path: string, log = silent) => createDisk({ folder: path, log, events: { emit: () => {} } });

it("a disk with room is fine, and a folder that is not there is not", async () => {
  await expect(open(folder).requireRoom()).resolves.toBeUndefined();
  await expect(open(join(folder, "none")).requireRoom()).rejects.toThrow("cannot be written to");
});

it("administrators are told once of each limit, and again when there was room in between", () => {
  const told: string[] = [];
  const warn = createWarnings(({ name, reason }) => void told.push(`${name}. ${reason}`));
  const gigabyte = 1024 ** 3;
  for (const left of [50, 9, 8, 10.5, 9, 4, 3, 20, 2]) {
    warn({ path: "/data", free_bytes: left * gigabyte, total_bytes: 100 * gigabyte });
  }
  expect(told).toEqual([
    "Less than 10 % of the disk is left. 9.0 GB of 100.0 GB are left at /data.",
    "Less than 5 % of the disk is left. 4.0 GB of 100.0 GB are left at /data.",
    "Less than 5 % of the disk is left. 2.0 GB of 100.0 GB are left at /data.",
  ]);
});

describe("a small disk", () => {
  it("is told full, then fine again, then read-only", async ({ skip }) => {
    if (!mount("-t", "tmpfs", "-o", "size=64m", "tmpfs")) {
      skip("this user may not mount");
    }
    const lines: unknown[] = [];
    const write = (level: string) => (facts: object, text: string) => void lines.push([level, facts, text]);
    const log = { error: write("error"), info: write("info") } as unknown as Logger;
    const disk = open(folder, log);
    try {
      await expect(disk.requireRoom()).resolves.toBeUndefined();
      writeFileSync(join(folder, "much"), Buffer.alloc(48 * 1024 * 1024));
      await expect(disk.requireRoom()).rejects.toThrow("There is no room left on the server's disk.");
      expect(await disk.problem()).toBe("There is no room left on the server's disk.");
      expect(disk.room()).toMatchObject({ path: folder, free_bytes: 16 * 1024 * 1024 });
      await rm(join(folder, "much"));
      await expect(disk.requireRoom()).resolves.toBeUndefined();
      expect(await disk.problem()).toBeUndefined();
      expect(lines).toEqual([
        ["error", { path: folder, left: "16 MB" }, "There is no room left on the server's disk."],
        ["info", { path: folder, left: "64 MB" }, "the disk can be written to again"],
      ]);
      mount("-o", "remount,ro");
      await expect(disk.requireRoom()).rejects.toThrow("The server's disk cannot be written to.");
    } finally {
      execFileSync("umount", [folder]);
    }
  });
});
