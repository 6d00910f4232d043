import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

// The fault tests with their full counts: minutes instead of seconds, and figures printed for each promise.
// `npm run faults -- upload crash` takes only files whose names begin with these words; options go to vitest.
const args = process.argv.slice(2);
const words = args.filter((arg) => !arg.startsWith("-"));
const files =
  words.length === 0
    ? ["test/faults"]
    : words.flatMap((word) => [`test/faults/${word}`, `test/faults/server/${word}`]);
const child = spawn(
  process.execPath,
  [
    "--no-node-snapshot",
    `${root}node_modules/vitest/vitest.mjs`,
    "run",
    ...files,
    "--testTimeout=1800000",
    ...args.filter((arg) => arg.startsWith("-")),
  ],
  { cwd: root, stdio: "inherit", env: { ...process.env, FAULTS: "full" } },
);
child.on("exit", (code) => process.exit(code ?? 1));
