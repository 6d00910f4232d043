import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { listTracked } from "./hygiene.ts";
import { root } from "./tool.ts";

const file = join(root, "node_modules/.cache/checks.json");

/** Remembers which content of its files a check has passed on, so that it runs again only after a change of these. */
export interface CheckCache {
  hasPassed(check: string, inputs: RegExp): boolean;
  keepPassed(check: string, inputs: RegExp): Promise<void>;
}

/** Reads every file of the project once (about a second) and what earlier runs remembered. */
export async function openCheckCache(): Promise<CheckCache> {
  const hashes = new Map<string, string>();
  for (const path of await listTracked(root)) {
    const bytes = await readFile(join(root, path)).catch(() => undefined);
    if (bytes !== undefined) {
      hashes.set(path, createHash("sha1").update(bytes).digest("hex"));
    }
  }
  const passed = JSON.parse(await readFile(file, "utf8").catch(() => "{}")) as Record<string, string>;
  /** A change of the checks themselves or of the locked packages counts for each of them. */
  const common = /^(scripts\/|package-lock\.json$|package\.json$|tsconfig|\.ox|\.dependency)/;
  const hashOf = (inputs: RegExp): string => {
    const hash = createHash("sha1").update(process.version);
    for (const [path, content] of hashes) {
      if (inputs.test(path) || common.test(path)) {
        hash.update(`\0${path}\0${content}`);
      }
    }
    return hash.digest("hex");
  };
  return {
    hasPassed: (check, inputs) => passed[check] === hashOf(inputs),
    async keepPassed(check, inputs) {
      passed[check] = hashOf(inputs);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, JSON.stringify(passed));
    },
  };
}
