// Installs what package-lock.json pins, once per change of that file.
// Plain JavaScript with built-ins only: it runs before anything is installed, on any Node from 20 on.
import { existsSync, statSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { takeLock } from "./lock.mjs";
import { say } from "./say.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = process.argv[2] ? `${root}${process.argv[2]}/` : root;
const lock = `${folder}package-lock.json`;
const done = `${folder}node_modules/.package-lock.json`;

if (!isInstalled()) {
  // Two installations at once take each other's files away.
  const release = await takeLock(`${folder}.cache/install.lock`, () =>
    say("Waiting for another command that installs the packages of this folder …"),
  );
  if (!isInstalled()) {
    install();
  }
  release();
}

function install() {
  const started = Date.now();
  say("Installing the locked packages (only when package-lock.json changed) …");
  const npm = process.env.npm_execpath;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const [command, rest] = npm?.endsWith("js") ? [process.execPath, [npm, ...args]] : ["npm", args];
  const result = spawnSync(command, rest, { cwd: folder, stdio: "inherit" });
  if (result.status !== 0) {
    say(
      "The installation failed. Check that the npm registry can be reached, then run the command again.",
      "fatal",
    );
    process.exit(result.status ?? 1);
  }
  say(`Installed in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
}

function isInstalled() {
  return existsSync(done) && statSync(done).mtimeMs >= statSync(lock).mtimeMs;
}
