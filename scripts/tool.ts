import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The project's folder, with a slash at its end. */
export const root = fileURLToPath(new URL("..", import.meta.url));

export interface ToolOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of an installed package under this Node; never rejects for an exit code. */
export function runScript(script: string, args: readonly string[], cwd: string = root): Promise<ToolOutput> {
  return new Promise((resolve, reject) => {
    const options = { cwd, maxBuffer: 256 * 1024 * 1024 };
    execFile(
      process.execPath,
      [`${root}node_modules/${script}`, ...args],
      options,
      (error, stdout, stderr) => {
        // A code that is no number means that the tool did not run at all.
        if (error && typeof error.code !== "number") {
          reject(error);
        } else {
          resolve({ code: Number(error?.code ?? 0), stdout, stderr });
        }
      },
    );
  });
}

/** Runs a tool that tells problems on its output and by its exit code. Resolves to its lines, none when it is content. */
export async function runTool(script: string, args: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await runScript(script, args);
  if (code === 0) {
    return [];
  }
  const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "");
  return lines.length > 0 ? lines : [`${script} ended with ${code}`];
}
