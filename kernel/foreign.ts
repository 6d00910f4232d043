import { existsSync, readdirSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Logger } from "./log.ts";
import type { AnyPlugin } from "./plugin.ts";

/**
 * Loads every `<folder>/plugin.ts` (or `.js`) below PLUGINS_PATH. One that cannot be loaded is logged and left out;
 * a path that does not exist is an error, because the operator named it.
 */
export async function loadForeignPlugins(path: string, log: Logger): Promise<AnyPlugin[]> {
  const root = resolve(path);
  if (!existsSync(root)) {
    throw new Error(`PLUGINS_PATH names ${path}, which does not exist.`);
  }
  resolveLikeTheApp(root);
  const plugins: AnyPlugin[] = [];
  for (const entry of readdirSync(root, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = entry.isDirectory() ? findPluginFile(join(root, entry.name)) : undefined;
    if (file === undefined) {
      continue;
    }
    try {
      const module = (await import(pathToFileURL(file).href)) as { default?: AnyPlugin };
      if (typeof module.default?.setup !== "function" || typeof module.default.id !== "string") {
        throw new Error("it has no default export made with definePlugin");
      }
      plugins.push(module.default);
    } catch (error) {
      log.error({ err: error, plugin: entry.name }, "a plugin of PLUGINS_PATH could not be loaded; it is left out");
    }
  }
  return plugins;
}

function findPluginFile(folder: string): string | undefined {
  return [join(folder, "plugin.ts"), join(folder, "plugin.js")].find((file) => existsSync(file));
}

/**
 * Lets files below `root` import what the platform can import (`#kernel/…`, zod): subpath imports belong to the
 * nearest package, and a foreign plugin lives outside of this one.
 */
function resolveLikeTheApp(root: string): void {
  const below = `${pathToFileURL(root).href}/`;
  const app = import.meta.url;
  registerHooks({
    resolve(specifier, context, next) {
      const isRelative = specifier.startsWith(".") || specifier.startsWith("/") || specifier.includes(":");
      if (isRelative || context.parentURL?.startsWith(below) !== true) {
        return next(specifier, context);
      }
      try {
        return next(specifier, context);
      } catch {
        return next(specifier, { ...context, parentURL: app });
      }
    },
  });
}
