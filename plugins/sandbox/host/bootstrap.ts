import { readFileSync } from "node:fs";

// P16 (first call): every context runs these modules first. The engine keeps what it made of a script for the next context,
// but not what it made of a module, so that the modules are joined to one script.

const importing = /^import (?:\{[^}]*\} from )?"([^"]+)";\n/gm;

/** Runs in every context: a function of `$0`, `$1` and `$2` (inside/environment.js) that answers the bridge's entries. */
export const bootstrap = `(function ($0, $1, $2) {\n"use strict";\n${join("bootstrap.js")}\nreturn entries;\n})`;

/** Runs in the context that takes chunks through stream hooks; no code of an author runs there, so that nothing is guarded. */
export const streamRouter = `"use strict";\n${join("stream-router.js")}\nreturn entries;`;

/** One script of a module of `inside/` and all that it imports, each after those that it imports itself. */
function join(entry: string): string {
  const sources = new Map<string, string>();
  const add = (url: URL): void => {
    if (!sources.has(url.href)) {
      const source = readFileSync(url, "utf8");
      // A place is kept at once: modules do not import each other in circles.
      sources.set(url.href, "");
      for (const [, path = ""] of source.matchAll(importing)) {
        add(new URL(path, url));
      }
      sources.delete(url.href);
      sources.set(url.href, source.replaceAll(importing, "").replaceAll(/^export (?=\w)/gm, ""));
    }
  };
  add(new URL(`../inside/${entry}`, import.meta.url));
  return [...sources.values()].join("\n");
}
