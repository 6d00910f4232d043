import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";

const skipped = new Set(["node_modules", "data", "coverage", "results", "dist"]);
const sources = /\.(ts|mjs|cjs|js|svelte|css)$/;

/** Source files below `place` with more than `most` lines. */
export async function findLongFiles(place: string, most: number): Promise<string[]> {
  const found: string[] = [];
  for (const path of await listFiles(place)) {
    if (sources.test(path)) {
      const text = await readFile(join(place, path), "utf8");
      const lines = text.endsWith("\n") ? text.split("\n").length - 1 : text.split("\n").length;
      if (lines > most) {
        found.push(`${path} has ${lines} lines, at most ${most} are allowed`);
      }
    }
  }
  return found;
}

// Put together from pieces, so that this file does not find itself.
const homes = ["work/main", "work/shared", "work/wt", "root", "Users/[A-Za-z]", "home/(?!node\\b)[a-z]"].join(
  "|",
);
const machinePath = new RegExp(`(?<![\\w.:/-])/(${homes})(/|\\b)`);

/** Paths of one machine in any text that is part of the project, and addresses of a registry in a lock file. */
export async function findForeignTraces(place: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of await listTracked(place)) {
    // A file that was removed and is not committed yet is listed still.
    const bytes = await readFile(join(place, path)).catch(() => Buffer.alloc(0));
    if (bytes.includes(0)) {
      continue;
    }
    const text = bytes.toString("utf8");
    if (path.endsWith("package-lock.json")) {
      found.push(...findRegistries(text).map((host) => `${path} names the registry ${host}`));
      continue;
    }
    for (const [at, line] of text.split("\n").entries()) {
      const match = machinePath.exec(line);
      if (match) {
        found.push(`${path}:${at + 1} names the path ${match[0]}`);
      }
    }
  }
  return found;
}

/** Lock files name packages and checksums only; where they come from is the installer's setting. */
function findRegistries(lock: string): string[] {
  const hosts = [...lock.matchAll(/"resolved":\s*"(?:\w+:\/\/)?([^/"]*)/g)].map((match) => match[1] ?? "");
  return [...new Set(hosts)];
}

/** Every file that is or would be committed, those of dot folders as well; outside a repository the project's own files. */
export async function listTracked(place: string): Promise<string[]> {
  const args = ["-C", place, "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  try {
    const { stdout } = await promisify(execFile)("git", args, { maxBuffer: 64 * 1024 * 1024 });
    return [...new Set(stdout.split("\0"))].filter((path) => path !== "").toSorted();
  } catch {
    return await listFiles(place);
  }
}

/** The project's own files below `place`, by path. */
export async function listFiles(place: string): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        // Tools keep their own things in dot folders; test/coverage is ours.
        const isOurs =
          !/^\.(?!ci$)/.test(entry.name) && (!skipped.has(entry.name) || path.endsWith("test/coverage"));
        await (isOurs ? visit(path) : undefined);
      } else if (entry.isFile()) {
        found.push(relative(place, path));
      }
    }
  };
  await visit(place);
  return found.toSorted();
}

const mostQuarantined = 10;

/** Tests whose outcome does not count (`quarantine` of test/support) when there are more than the project allows. */
export async function findQuarantined(place: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of (await listFiles(place)).filter((name) => name.endsWith(".test.ts"))) {
    const text = await readFile(join(place, path), "utf8");
    found.push(...[...text.matchAll(/^.*\bquarantine\(/gm)].map(([line]) => `${path}: ${line.trim()}`));
  }
  return found.length > mostQuarantined
    ? [`${found.length} tests are quarantined, at most ${mostQuarantined} are allowed`, ...found]
    : [];
}
