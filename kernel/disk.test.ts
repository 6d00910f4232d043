import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requireRoom } from "./disk.ts";

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

it("a disk with room is fine, and a folder that is not there is not", async () => {
  await expect(requireRoom(folder)).resolves.toBeUndefined();
  await expect(requireRoom(join(folder, "none"))).rejects.toThrow("cannot be written to");
});

describe("a small disk", () => {
  it("is told full, then fine again, then read-only", async ({ skip }) => {
    if (!mount("-t", "tmpfs", "-o", "size=64m", "tmpfs")) {
      skip("this user may not mount");
    }
    try {
      await expect(requireRoom(folder)).resolves.toBeUndefined();
      writeFileSync(join(folder, "much"), Buffer.alloc(48 * 1024 * 1024));
      await expect(requireRoom(folder)).rejects.toThrow("There is no room left on the server's disk.");
      await rm(join(folder, "much"));
      await expect(requireRoom(folder)).resolves.toBeUndefined();
      mount("-o", "remount,ro");
      await expect(requireRoom(folder)).rejects.toThrow("The server's disk cannot be written to.");
    } finally {
      execFileSync("umount", [folder]);
    }
  });
});
