// Runs a file of this project under Node 24: the running Node when it is new enough,
// else the one that came as an optional dependency.
// Plain JavaScript with built-ins only: it runs on any Node from 20 on.
import { existsSync, readFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ensureInterface } from "./interface.mjs";
import { nodeFlags } from "./node-flags.mjs";
import { say } from "./say.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const [file, ...args] = process.argv.slice(2);
// Compiled code is kept between starts: compiling the sources again costs a fifth of a start.
const cache = process.env.NODE_COMPILE_CACHE ?? `${root}node_modules/.cache/compiled`;
const env = { ...process.env, NODE_COMPILE_CACHE: cache };
const node = findNode();
if (file === "plugins/serve.ts" && /^(-.*|start|serve)?$/.test(args[0] ?? "")) {
  await ensureInterface({ node });
}
const child = spawn(node, [...nodeFlags, `${root}${file}`, ...args], { stdio: "inherit", env });

// A supervisor signals this process alone, and so does npm: package.json runs it with exec, because a shell between npm
// and this process would die of the signal and leave the server running.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => fail(`Node 24 could not be started: ${error.message}`));
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code ?? 1);
  }
});

function findNode() {
  if (Number(process.versions.node.split(".")[0]) >= 24) {
    return process.execPath;
  }
  const name = `node-${process.platform}-${process.arch}`;
  const bundled = `${root}node_modules/${name}/bin/node`;
  if (!existsSync(bundled)) {
    const { optionalDependencies } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
    fail(
      name in optionalDependencies
        ? `The installed packages are not complete: ${name} is missing. Delete the folder node_modules and run the command again.`
        : `Node 24 or newer is needed. This is ${process.version}, and no bundled Node exists for ${process.platform}-${process.arch}. Install Node 24 and run the command again.`,
    );
  }
  return bundled;
}

function fail(message) {
  say(message, "fatal");
  process.exit(1);
}
