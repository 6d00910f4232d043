import { execFileSync } from "node:child_process";
import {
  link,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { confine, type ConfinedFiles } from "./confined.ts";

let outside: string;
let files: ConfinedFiles;

beforeAll(async () => {
  outside = await mkdtemp(join(tmpdir(), "confined-"));
  const root = join(outside, "workspace");
  await mkdir(join(root, "src"), { recursive: true });
  await writeFile(join(outside, "secret.txt"), "secret");
  await writeFile(join(root, "src/a.txt"), "a");
  await symlink(outside, join(root, "up"));
  await symlink(join(outside, "secret.txt"), join(root, "soft.txt"));
  await link(join(outside, "secret.txt"), join(root, "hard.txt"));
  execFileSync("mkfifo", [join(root, "pipe")]);
  files = confine(root);
});
afterAll(() => rm(outside, { recursive: true, force: true }));

const wayOut = [
  "../secret.txt",
  "src/../../secret.txt",
  "/etc/passwd",
  "up/secret.txt",
  "up/workspace/src/a.txt",
  "soft.txt",
  "hard.txt",
  "pipe",
  "a\u0000b",
  "",
  ".",
  "src",
];

it.each(wayOut)("reads nothing by the path %j", async (path) => {
  await expect(files.read(path)).rejects.toMatchObject({ code: "invalid" });
});

it.each(wayOut.filter((path) => path !== "hard.txt"))("writes nothing by the path %j", async (path) => {
  await expect(files.write(path, Buffer.from("x"))).rejects.toMatchObject({ code: "invalid" });
  expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("secret");
});

it("replaces a file with a second name in the workspace alone", async () => {
  await files.write("hard.txt", Buffer.from("new"));
  expect((await files.read("hard.txt")).toString()).toBe("new");
  expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("secret");
});

it("makes folders, keeps the mode of a file, and names what is missing", async () => {
  await files.write("deep/er/run.sh", Buffer.from("1"), 0o755);
  await files.write("deep/er/run.sh", Buffer.from("2"));
  expect((await stat(join(files.root, "deep/er/run.sh"))).mode & 0o777).toBe(0o755);
  await expect(files.read("deep/none")).rejects.toMatchObject({ code: "not_found" });
  await expect(files.list("none")).rejects.toMatchObject({ code: "not_found" });
  expect((await files.list("")).find(({ name }) => name === "up")?.kind).toBe("link");
});

it("writes nothing outside while a folder becomes a link and a folder again", async () => {
  const [folder, aside] = [join(files.root, "turning"), join(files.root, "aside")];
  await mkdir(folder);
  await mkdir(join(outside, "target"));
  const over = new AbortController();
  const turning = (async () => {
    while (!over.signal.aborted) {
      // The writer may have made a folder of this name in between.
      await rm(aside, { recursive: true, force: true });
      await rename(folder, aside).catch(() => undefined);
      await symlink(join(outside, "target"), folder).catch(() => undefined);
      await unlink(folder).catch(() => undefined);
      await rename(aside, folder).catch(() => undefined);
    }
  })();
  for (let count = 0; count < 300; count += 1) {
    await files.write("turning/file.txt", Buffer.from("x")).catch(() => undefined);
  }
  over.abort();
  await turning;
  await expect(stat(join(outside, "target/file.txt"))).rejects.toMatchObject({ code: "ENOENT" });
});
