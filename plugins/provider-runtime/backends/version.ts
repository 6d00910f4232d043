import { AppError } from "#kernel/errors.ts";
import type { Backend } from "./backend.ts";
import type { RuntimeClient } from "./client.ts";
import { readJson } from "./fetch-list.ts";

/** The version a backend tells of itself. Throws AppError `upstream` when it tells none. */
export async function fetchVersion(
  client: RuntimeClient,
  backend: Backend,
  timeLimit: number,
): Promise<string> {
  const answer = (await readJson(client, backend, { path: "/api/version", timeLimit })) as {
    version?: unknown;
  } | null;
  if (typeof answer?.version !== "string" || answer.version === "") {
    throw new AppError("upstream", "The address answers, but not as a model runtime does.");
  }
  return answer.version;
}

/** The lowest of some versions: what all backends together can do. */
export function lowest(versions: readonly string[]): string | undefined {
  return versions.toSorted(compare)[0];
}

/** By their numbers; a pre-release (`-rc1`) comes before its release. */
function compare(a: string, b: string): number {
  const [first, second] = [toParts(a), toParts(b)];
  for (let at = 0; at < Math.max(first.numbers.length, second.numbers.length); at++) {
    const difference = (first.numbers[at] ?? 0) - (second.numbers[at] ?? 0);
    if (difference !== 0) {
      return difference;
    }
  }
  return Number(second.isPre) - Number(first.isPre) || (a < b ? -1 : Number(a > b));
}

function toParts(version: string): { numbers: number[]; isPre: boolean } {
  const [release = "", ...pre] = version.replace(/^v/, "").split(/[-+]/);
  return { numbers: release.split(".").map((part) => Number.parseInt(part, 10) || 0), isPre: pre.length > 0 };
}
