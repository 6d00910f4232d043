// Builds the web interface when its sources changed since the last build.
// Plain JavaScript with built-ins only: it runs on any Node from 20 on, before every start of the server.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { takeLock } from "./lock.mjs";
import { say } from "./say.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const web = `${root}plugins/web`;
const built = `${web}/dist`;
/** Kept beside the build: the sources that it was made of. */
const stamp = `${built}/sources.txt`;
const lock = `${root}node_modules/.cache/interface.lock`;
const sources = /(?<!\.(test|fixture))\.(ts|js|svelte|css|html|json|py|svg|png|woff2)$/;

/** The hash of everything that the build is made of. */
export function hashSources() {
  const hash = createHash("sha1");
  for (const path of listSources()) {
    hash.update(path.slice(root.length)).update("\0").update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

function listSources() {
  const plugins = readdirSync(`${root}plugins`).map((name) => `${root}plugins/${name}/web`);
  // Templates of functions and the types that their editor knows are part of the interface.
  const functions = [`${root}examples/functions`];
  const folders = [`${web}/kit`, `${web}/shell`, `${web}/frames`, ...functions, ...plugins].filter((path) =>
    existsSync(path),
  );
  const found = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  );
  const own = readdirSync(web).filter((name) => /\.config\.[jt]s$|^index\.html$/.test(name));
  const types = readdirSync(`${root}docs`).filter((name) => /^functions.*\.d\.ts$/.test(name));
  return [
    ...types.map((name) => `${root}docs/${name}`),
    ...found.filter((path) => sources.test(path)).toSorted(),
    ...own.map((name) => `${web}/${name}`),
    `${root}package-lock.json`,
  ];
}

export function isBuilt() {
  return existsSync(`${built}/index.html`);
}

/** Whether the build is there and made of the sources of now. */
export function isFresh(hash = hashSources()) {
  return isBuilt() && existsSync(stamp) && readFileSync(stamp, "utf8") === hash;
}

/** Builds when the sources changed. Resolves to false when there is nothing to show afterwards. */
export async function ensureInterface({ node = process.execPath, print = say } = {}) {
  const hash = hashSources();
  if (isFresh(hash)) {
    return true;
  }
  if (!existsSync(`${root}node_modules/vite/bin/vite.js`)) {
    // An image, or an installation without the packages for development: what was built elsewhere is served.
    return isBuilt();
  }
  // A second start waits for the build of the first one.
  const release = await takeLock(lock);
  try {
    return isFresh(hash) || (await build({ node, print, hash }));
  } finally {
    release();
  }
}

/** Builds into a folder of its own and puts that in place at the end, so that no server sees half a build. */
async function build({ node, print, hash }) {
  const started = Date.now();
  const place = `${web}/dist.${process.pid}`;
  removeRemains();
  print("Building the interface (only when its sources changed) …");
  try {
    const problem = await run(node, [`${root}scripts/build-interface.mjs`, place]);
    if (problem !== undefined) {
      print(`The interface could not be built${isBuilt() ? "; the last build is used" : ""}:\n${problem}`);
      return isBuilt();
    }
    writeFileSync(`${place}/sources.txt`, hash);
    const old = `${place}.old`;
    if (existsSync(built)) {
      renameSync(built, old);
    }
    renameSync(place, built);
    rmSync(old, { recursive: true, force: true });
    print(`Built in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
    return true;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** What builds left behind that were killed: one build runs at a time, so nobody writes to them any more. */
function removeRemains() {
  for (const name of readdirSync(web)) {
    if (/^dist\.\d+/.test(name)) {
      rmSync(`${web}/${name}`, { recursive: true, force: true });
    }
  }
}

/** Resolves to what the program said when it failed, undefined when it did not. */
function run(node, args) {
  return new Promise((resolve) => {
    // Elsewhere it says `test` or `development`, and the interface would be the slow one with the warnings.
    const env = { ...process.env, NODE_ENV: "production" };
    const child = spawn(node, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    const collect = (piece) => (said += piece);
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code) => resolve(code === 0 ? undefined : said.trim() || `it ended with ${code}`));
  });
}
