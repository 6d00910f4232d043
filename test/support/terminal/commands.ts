import { execFile } from "node:child_process";

/** Runs a command of `run_command` to its end. */
export function runCommand({ command }: { command: string }, cwd: string): Promise<object> {
  return new Promise((resolve) => {
    execFile("/bin/sh", ["-c", command], { cwd, timeout: 5_000 }, (error, stdout, stderr) => {
      const output = [
        ...(stdout === "" ? [] : [{ type: "stdout", data: stdout }]),
        ...(stderr === "" ? [] : [{ type: "stderr", data: stderr }]),
      ];
      resolve({ id: "p1", command, cwd, status: "done", exit_code: Number(error?.code ?? 0), output });
    });
  });
}
