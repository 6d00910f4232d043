import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";

/**
 * The folder in which the command-line agents are installed, `@anthropic-ai/claude-code` and `@openai/codex`. They are
 * far too large to come along, so their tests are left out without it; `.ci/run` installs them.
 */
export const agentsFolder = process.env["TEST_AGENTS_DIR"] || undefined;

export interface AgentOptions {
  /** Script of the agent, below the folder's node_modules. */
  readonly script: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files of its home folder. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface AgentRun {
  /** Its exit code. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Milliseconds after which an agent is ended. */
const limit = 60_000;

/**
 * Runs an agent to its end without a terminal, with a home folder of its own and no network but the platform.
 */
export async function runAgent({ script, args, env, files = {} }: AgentOptions): Promise<AgentRun> {
  const home = mkdtempSync(join(tmpdir(), "millrace-agent-"));
  const work = join(home, "work");
  mkdirSync(work);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  const child = spawn(process.execPath, [join(agentsFolder ?? "", "node_modules", script), ...args], {
    cwd: work,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      TERM: "dumb",
      // No proxy listens on this port: other requests fail at once.
      HTTP_PROXY: "http://127.0.0.1:9",
      HTTPS_PROXY: "http://127.0.0.1:9",
      NO_PROXY: "127.0.0.1",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that its children end with it.
    detached: true,
  });
  const timer = setTimeout(() => endGroup(child.pid), limit);
  try {
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close") as Promise<[number | null]>,
    ]);
    return { code, stdout, stderr };
  } finally {
    clearTimeout(timer);
    endGroup(child.pid);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function endGroup(id: number | undefined): void {
  try {
    if (id !== undefined) {
      process.kill(-id, "SIGKILL");
    }
  } catch {
    // All of it has ended already.
  }
}
