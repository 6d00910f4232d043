import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBorderViolations, type BorderReport } from "./borders.ts";
import { findComponentViolations } from "./component-borders.ts";
import { findForeignTraces, findLongFiles } from "./hygiene.ts";
import { findOldNames } from "./old-names.ts";
import { findFloatingPromises } from "./promises.ts";
import { root } from "./tool.ts";

const { forbidden } = createRequire(import.meta.url)("../.dependency-cruiser.cjs") as {
  forbidden: { name: string }[];
};

/** One file a rule that breaks it, and a source that keeps all of them. */
const planted: Record<string, Record<string, string>> = {
  "layer-config": { "config/a.ts": `import type { B } from "#storage/b.ts";\nexport type A = B;` },
  "layer-storage": { "storage/c.ts": `import { k } from "#kernel/k.ts";\nexport const c = k;` },
  "layer-kernel": {
    "kernel/d.ts": `import type { Service } from "#plugins/two/service.ts";\nexport type D = Service;`,
  },
  "plugin-door": { "plugins/one/inner.ts": `import { logic } from "#plugins/two/logic.ts";\nlogic();` },
  catalogue: { "plugins/one/list.ts": `import { catalogue } from "#plugins/catalogue.ts";\ncatalogue();` },
  "plugin-declaration": { "plugins/two/again.ts": `import declared from "./plugin.ts";\ndeclared();` },
  "http-server": { "kernel/serve.ts": `import { H3 } from "h3";\nnew H3();` },
  "web-sockets": {
    "plugins/one/upgrade.ts": `import adapter from "crossws/adapters/node";\nadapter();`,
  },
  network: { "plugins/one/call.ts": `import { fetch } from "undici";\nawait fetch("https://example.test");` },
  "network-built-in": { "plugins/one/socket.ts": `import { connect } from "node:net";\nconnect(1);` },
  "database-driver": {
    "plugins/one/driver.ts": `import type { Client } from "pg";\nexport type D = Client;`,
  },
  queries: { "plugins/one/user-routes.ts": `import { sql } from "kysely";\nexport const q = sql;` },
  redis: { "kernel/lock.ts": `import { Redis } from "ioredis";\nnew Redis();` },
  jobs: { "kernel/queue.ts": `import { PgBoss } from "pg-boss";\nnew PgBoss("");` },
  directory: { "plugins/one/people.ts": `import { Client } from "ldapts";\nnew Client({ url: "" });` },
  sandbox: { "plugins/one/isolate.ts": `import ivm from "isolated-vm";\nnew ivm.Isolate();` },
  "routes-to-store": {
    "plugins/one/routes.ts": `import { rows } from "./rows-store.ts";\nrows();`,
    "plugins/one/rows-store.ts": `export const rows = () => [];`,
  },
  "web-to-server": { "plugins/one/web/page.ts": `import { logic } from "../logic.ts";\nlogic();` },
  "product-to-support": {
    "kernel/k2.ts": `import { help } from "#test/support/help.ts";\nhelp();`,
    "test/support/help.ts": `export const help = () => 1;`,
  },
  "no-cycle": {
    "kernel/x.ts": `import type { Y } from "./y.ts";\nexport interface X { y: Y }`,
    "kernel/y.ts": `import type { X } from "./x.ts";\nexport interface Y { x: X }`,
  },
  unresolvable: { "kernel/gone.ts": `import { gone } from "./nowhere.ts";\ngone();` },
  "no-orphan": { "kernel/unused.ts": `export const unused = 1;` },
};

/** Files that the planted ones import; they break no rule. */
const sound: Record<string, string> = {
  "storage/b.ts": `export interface B { b: 1 }`,
  "kernel/k.ts": `import type { B } from "#storage/b.ts";\nexport const k: B = { b: 1 };`,
  "plugins/one/logic.ts": `import type { Service } from "#plugins/two/service.ts";\nexport const logic = (): Service => ({});`,
  "plugins/two/logic.ts": `import { k } from "#kernel/k.ts";\nexport const logic = () => k;`,
  "plugins/two/service.ts": `export interface Service {}`,
  "plugins/two/plugin.ts": `import { logic } from "./logic.ts";\nexport default logic;`,
  "plugins/one/plugin.ts": `import { logic } from "./logic.ts";\nexport default logic;`,
  "plugins/catalogue.ts": `import one from "./one/plugin.ts";\nimport two from "./two/plugin.ts";\nexport const catalogue = () => [one, two];`,
  "plugins/serve.ts": `import { catalogue } from "./catalogue.ts";\ncatalogue();`,
};

const places: string[] = [];

afterAll(async () => {
  await Promise.all(places.map((place) => rm(place, { recursive: true, force: true })));
});

describe("the borders can be broken", () => {
  let clean: BorderReport;
  let broken: BorderReport;

  beforeAll(async () => {
    clean = await findBorderViolations(await lay(sound));
    broken = await findBorderViolations(await lay(Object.assign({}, sound, ...Object.values(planted))));
  });

  test("sources that keep them are told nothing", () => {
    expect(clean.violations).toEqual([]);
    expect(clean.cruised).toBe(Object.keys(sound).length);
  });

  test.each(forbidden.map(({ name }) => name))("a planted violation of %s is found", (name) => {
    const files = Object.keys(planted[name] ?? {});
    const found = broken.violations.filter(({ rule }) => rule === name);
    expect(found.map(({ from, to }) => [from, to]).flat()).toEqual(expect.arrayContaining([files[0]]));
  });
});

test("components that import a server's module or another plugin's are found, with lazy imports", async () => {
  const place = await lay({
    "plugins/one/web/Good.svelte": `<script lang="ts">\n  import type { Rows } from "#plugins/two/service.ts";\n  import B from "#plugins/web/kit/B.svelte";\n  import { x } from "./x.ts";\n</script>`,
    "plugins/one/web/Server.svelte": `<script lang="ts">\n  import { logic } from "../logic.ts";\n</script>`,
    "plugins/one/web/Other.svelte": `{#await import("#plugins/two/web/Page.svelte")}{/await}`,
    "plugins/web/kit/Kit.svelte": `<script lang="ts">\n  import App from "../shell/App.svelte";\n</script>`,
  });
  expect((await findComponentViolations(place)).map(({ from, to }) => [from, to])).toEqual([
    ["plugins/one/web/Other.svelte", "plugins/two/web/Page.svelte"],
    ["plugins/one/web/Server.svelte", "plugins/one/logic.ts"],
    ["plugins/web/kit/Kit.svelte", "plugins/web/shell/App.svelte"],
  ]);
});

test("a planted long file, a planted machine path and a planted registry are found", async () => {
  const home = ["", "root", "notes"].join("/");
  const place = await lay({
    "kernel/long.ts": "export {};\n".repeat(300),
    "kernel/fits.ts": "export {};\n".repeat(299),
    "docs/page.md": `see ${home}`,
    "lock/package-lock.json": `{"packages": {"node_modules/a": {"resolved": "https://packages.example.test/a.tgz"}}}`,
  });
  expect(await findLongFiles(place, 300)).toEqual(["kernel/long.ts has 301 lines, at most 300 are allowed"]);
  expect(await findForeignTraces(place)).toEqual([
    `docs/page.md:1 names the path ${home.slice(0, 6)}`,
    "lock/package-lock.json names the registry packages.example.test",
  ]);
  // In a repository all that is or would be committed counts, whatever its folder and kind.
  const tracked = await lay({
    ".tools/notes": `see ${home}`,
    "docs/page.md": `see ${home}`,
    ".gitignore": "docs",
  });
  execFileSync("git", ["init", "--quiet", tracked]);
  expect(await findForeignTraces(tracked)).toEqual([`.tools/notes:1 names the path ${home.slice(0, 6)}`]);
});

test("planted old names are found in code and as names of files, not in comments and texts", async () => {
  const place = await lay({
    "kernel/sizes.ts": `// Later, AtOnce\nexport interface Fare { size: number }\nexport const text = "Way";`,
    "plugins/one/tails.http.test.ts": "export const tails = 1;",
    "plugins/one/refuses.ts": `throw new AppError(${JSON.stringify("limit")}, "Too many");`,
  });
  expect((await findOldNames(place)).map((line) => line.split(/[ :]/, 1)[0])).toEqual([
    "kernel/sizes.ts",
    "plugins/one/refuses.ts",
    "plugins/one/tails.http.test.ts",
  ]);
});

test("planted promises that nobody awaits are found, in tests as well", async () => {
  const place = await lay({
    "kernel/floats.ts":
      "async function work(): Promise<void> {}\nexport const start = (): void => {\n  work();\n};",
    "kernel/floats.test.ts": `import { expect, test } from "vitest";\ntest("x", () => {\n  expect(Promise.resolve(1)).resolves.toBe(2);\n});`,
    "kernel/misused.ts": "export const any = (list: number[]) => list.filter(async (item) => item > 1);",
    "kernel/waits.ts":
      "export const wait = async (work: () => Promise<void>) => {\n  await work();\n  void work();\n};",
  });
  const found = (await findFloatingPromises(place)).filter((line) => line.includes(".ts:"));
  expect(found.map((line) => /\w+(\.test)?\.ts:\d+/.exec(line)?.[0]).toSorted()).toEqual([
    "floats.test.ts:3",
    "floats.ts:3",
    "misused.ts:1",
  ]);
});

/** A small project of these files, with the packages of this one. */
async function lay(files: Record<string, string>): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), "borders-"));
  places.push(place);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), `${text}\n`);
  }
  await cp(join(root, "package.json"), join(place, "package.json"));
  await cp(join(root, "tsconfig.json"), join(place, "tsconfig.json"));
  await symlink(join(root, "node_modules"), join(place, "node_modules"));
  return place;
}
