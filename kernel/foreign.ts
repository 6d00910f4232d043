import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { requireDeclaration } from "./check-declaration.ts";
import type { Logger } from "./log.ts";
import type { Omission } from "./omission.ts";
import { BootError } from "./order.ts";
import type { AnyPlugin } from "./plugin.ts";

/**
 * Loads every `<folder>/plugin.ts` (or `.js`) below PLUGINS_PATH. One that cannot be loaded is logged and left out;
 * a path that does not exist is an error, because the operator named it. Resolves to the plugins with their folders;
 * those left out go into `omissions`.
 */
export async function loadForeignPlugins(
  path: string,
  log: Logger,
  omissions: Omission[] = [],
): Promise<Map<AnyPlugin, string>> {
  const root = resolve(path);
  if (!existsSync(root)) {
    throw new BootError(`PLUGINS_PATH names ${path}, which does not exist.`);
  }
  if (findPluginFile(root)) {
    throw new BootError(`PLUGINS_PATH names ${path}, which is a plugin itself. Name the folder above it.`);
  }
  const folders = readdirSync(root)
    .toSorted()
    .filter((name) => isPluginFolder(root, name));
  // A folder that is a link runs where it points to.
  resolveLikeTheApp([root, ...folders.map((name) => join(root, name))].map((place) => realpathSync(place)));
  const plugins = new Map<AnyPlugin, string>();
  for (const name of folders) {
    const file = findPluginFile(join(root, name));
    if (file === undefined) {
      log.warn(
        { plugin: name },
        "a folder of PLUGINS_PATH holds no plugin.ts and no plugin.js; it is left out",
      );
      omissions.push({
        id: name,
        cause: "broken",
        reason: "The folder holds no plugin.ts and no plugin.js.",
      });
      continue;
    }
    try {
      plugins.set(await loadPlugin(file), join(root, name));
    } catch (error) {
      log.error({ err: error, plugin: name }, "a plugin of PLUGINS_PATH could not be loaded; it is left out");
      const said = error instanceof Error ? error.message : String(error);
      omissions.push({ id: name, cause: "broken", reason: `It could not be loaded: ${said}` });
    }
  }
  return plugins;
}

async function loadPlugin(file: string): Promise<AnyPlugin> {
  const module = (await import(pathToFileURL(file).href)) as { default?: AnyPlugin };
  requireDeclaration(module.default as AnyPlugin);
  return module.default as AnyPlugin;
}

function isPluginFolder(root: string, name: string): boolean {
  return (
    !name.startsWith(".") &&
    name !== "node_modules" &&
    statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory() === true
  );
}

function findPluginFile(folder: string): string | undefined {
  return [join(folder, "plugin.ts"), join(folder, "plugin.js")].find((file) => existsSync(file));
}

/**
 * Lets files below the roots import what the platform can import (`#kernel/…`, zod): subpath imports belong to the
 * nearest package, and a foreign plugin lives outside of this one.
 */
function resolveLikeTheApp(roots: readonly string[]): void {
  const places = roots.map((root) => `${pathToFileURL(root).href}/`);
  const app = import.meta.url;
  registerHooks({
    resolve(specifier, context, next) {
      const isRelative = specifier.startsWith(".") || specifier.startsWith("/") || specifier.includes(":");
      if (isRelative || !places.some((place) => context.parentURL?.startsWith(place))) {
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
