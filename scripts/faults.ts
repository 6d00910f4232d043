import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

// The fault tests with their full counts: minutes instead of seconds, and figures printed for each promise.
const child = spawn(
  process.execPath,
  [
    "--no-node-snapshot",
    `${root}node_modules/vitest/vitest.mjs`,
    "run",
    "test/faults",
    "--testTimeout=1800000",
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: "inherit", env: { ...process.env, FAULTS: "full" } },
);
child.on("exit", (code) => process.exit(code ?? 1));
