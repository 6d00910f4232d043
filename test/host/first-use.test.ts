import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { startProcess } from "#test/support/process.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";

// What an installation does not use must cost it no time at the start and no memory.

/** Packages that only some installations ever use, by what uses them first. */
const atFirstUse = [
  "@kenjiuno/msgreader",
  "@modelcontextprotocol/sdk",
  "@mozilla/readability",
  "@simplewebauthn/server",
  "gpt-tokenizer",
  "linkedom",
  "mammoth",
  "postal-mime",
  "prettier",
  "pyodide",
  "saxes",
  "swagger-ui-dist",
  "turndown",
  "unpdf",
  "web-push",
];

/** Writes down each package that a thread of the server loads a module of. */
const observer = `
  import { appendFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  const known = new Set();
  registerHooks({
    load(url, context, next) {
      const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url) ?? [];
      if (name && !known.has(name)) appendFileSync(process.env.LOADED_PACKAGES, name + "\\n");
      known.add(name);
      return next(url, context);
    },
  });`;

const folder = await createTestFolder({ "loaded.txt": "" });
afterAll(() => removeTestFolder(folder));

test("a start loads no package that waits for its first use", async () => {
  const file = join(folder, "loaded.txt");
  const server = await startProcess({
    DATA_DIR: join(folder, "data"),
    LOADED_PACKAGES: file,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(observer)}`,
  });
  await fetch(`${server.url}/api/config`).then((answer) => answer.json());
  expect(await server.stop()).toBe(0);
  const loaded = new Set((await readFile(file, "utf8")).split("\n"));
  expect(loaded).toContain("kysely");
  expect(atFirstUse.filter((name) => loaded.has(name))).toEqual([]);
});

test("each of those packages is a dependency", async () => {
  const { dependencies } = JSON.parse(await readFile("package.json", "utf8")) as {
    dependencies: Record<string, string>;
  };
  expect(atFirstUse.filter((name) => !(name in dependencies))).toEqual([]);
});
