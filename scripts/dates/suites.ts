import { readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { listFiles } from "../hygiene.ts";
import { root } from "../tool.ts";

/** Code with days, weeks, months, times of a day or zones, which a mere moment in milliseconds has not. */
const code =
  /\bTemporal\b|DateTimeFormat|toLocale(Date|Time)|\.[gs]et(UTC)?(Day|Date|Month|FullYear|Hours|Minutes)\(|@internationalized\/date|at time zone/;
/** Suites that reach such code through the running platform give it away by what they send and expect. */
const words =
  /RRULE|FREQ=|[tT]ime_?[zZ]one|"(Europe|America|Asia|Pacific)\/|\b(tomorrow|[yY]esterday|Today|midnight|[wW]eekdays?|leaderboards?)\b/;

const isProduct = (path: string) => /^(config|storage|kernel|plugins)\/.*\.(ts|svelte)$/.test(path);
const isTest = (path: string) => /\.(test|fixture)\.ts$/.test(path);
/** Folders of many things, of which dates are one. */
const isMixed = (folder: string) =>
  /^plugins\/(accounts|chats|models|prompts|web)\b|^plugins\/(feedback|usage)$/.test(folder);
/** The folder of a file; for one of a page, that of the plugin's pages. */
const areaOf = (path: string) => /^plugins\/[^/]+\/web\b/.exec(path)?.[0] ?? dirname(path);

/**
 * The suites that touch dates: those that speak of them, that import code of dates, and that stand in its folder. A suite
 * that reads the time and does nothing with its calendar is none.
 */
export async function findDateSuites(): Promise<string[]> {
  const paths = (await listFiles(root)).filter((path) => isProduct(path) || path.endsWith(".test.ts"));
  const texts = new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(root, path), "utf8")] as const)),
  );
  const dated = new Set(paths.filter((path) => !isTest(path) && code.test(texts.get(path)!)));
  const areas = new Set([...dated].map(areaOf).filter((area) => !isMixed(area)));
  return paths.filter((path) => {
    const text = texts.get(path)!;
    const touches =
      code.test(text) ||
      words.test(text) ||
      areas.has(areaOf(path)) ||
      importsOf(path, text).some((target) => dated.has(target));
    return path.endsWith(".test.ts") && touches;
  });
}

function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(/from "(\.[^"]+\.ts)"/g)].map(([, target]) =>
    normalize(join(dirname(path), target!)),
  );
}
