import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";
import { makeFolder } from "./make-folder.ts";

let root: string;

beforeEach(async () => {
  root = await createTestFolder({});
});
afterEach(() => removeTestFolder(root));

test("makes a folder and its parents, and leaves one that is there", async () => {
  const folder = join(root, "a", "b");
  await Promise.all([makeFolder(folder), makeFolder(folder)]);
  await makeFolder(folder);
  expect(statSync(folder).isDirectory()).toBe(true);
});

test("refuses a path through a file", async () => {
  const file = join(root, "file");
  writeFileSync(file, "");
  await expect(makeFolder(file)).rejects.toThrow("EEXIST");
  await expect(makeFolder(join(file, "a"))).rejects.toThrow("ENOTDIR");
});

test.skipIf(!existsSync("/proc/self"))("refuses a file system that takes no folders", async () => {
  await expect(makeFolder("/proc/x")).rejects.toThrow("ENOENT");
  await expect(makeFolder("/proc/x/y")).rejects.toThrow("ENOENT");
});
