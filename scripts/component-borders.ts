import { readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import type { Violation } from "./borders.ts";
import { listFiles } from "./hygiene.ts";

const imports =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^"';]*?\s+from\s+)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/g;

/**
 * Holds the border of the interface for components, which the border tool cannot read: they import the kit, their own
 * `web/` folder and types.
 */
export async function findComponentViolations(place: string): Promise<Violation[]> {
  const components = (await listFiles(place)).filter((path) => /^plugins\/.*\.svelte$/.test(path));
  const found = await Promise.all(
    components.map(async (from) =>
      readImports(await readFile(join(place, from), "utf8"))
        .map(({ name, isType }) => ({ to: toPath(from, name), isType }))
        .filter(({ to, isType }) => to !== undefined && !isType && !mayImport(from, to))
        .map(({ to }) => ({ rule: "web-to-server", from, to: to as string })),
    ),
  );
  return found.flat();
}

function readImports(text: string): { name: string; isType: boolean }[] {
  return [...text.matchAll(imports)].map(([, type, name, lazy]) => ({
    name: (name ?? lazy) as string,
    isType: type !== undefined,
  }));
}

/** The path in the project; undefined for packages. */
function toPath(from: string, name: string): string | undefined {
  if (name.startsWith("#")) {
    return name.slice(1);
  }
  return name.startsWith(".") ? normalize(join(dirname(from), name)) : undefined;
}

function mayImport(from: string, to: string): boolean {
  const own = /^plugins\/(?:web\/(?:kit|shell)|[^/]+\/web)\//.exec(from)?.[0];
  return own !== undefined && (to.startsWith(own) || to.startsWith("plugins/web/kit/"));
}
