import { BootError } from "./order.ts";
import { findPageProblem, type Page, toPathShape } from "./page.ts";
import type { AnyPlugin } from "./plugin.ts";

/** Every field a plugin can have; the checker's view of them is `Plugin`. */
const fields = new Set<string>([
  "id",
  "title",
  "summary",
  "config",
  "uses",
  "provides",
  "tables",
  "migrations",
  "permissions",
  "resources",
  "pages",
  "commands",
  "installationCommands",
  "folders",
  "enabled",
  "whenOff",
  "setup",
] satisfies (keyof AnyPlugin)[]);

/** Names under which the platform itself keeps settings and migrations. */
const reserved = new Set(["core", "deployment", "idempotency", "kernel", "migration"]);

/**
 * Refuses a declaration that would only fail later, or silently do nothing. Plugins of PLUGINS_PATH meet no type
 * checker, so this is theirs. Throws BootError whose text follows the words "the plugin …".
 */
export function requireDeclaration(plugin: AnyPlugin): void {
  for (const problem of problemsOf(plugin)) {
    throw new BootError(problem);
  }
}

function* problemsOf(plugin: AnyPlugin): Generator<string> {
  if (typeof plugin !== "object" || plugin === null) {
    yield "it has no default export made with definePlugin: write `export default definePlugin({ … })`";
  }
  const unknown = Object.keys(plugin).find((name) => !fields.has(name));
  if (unknown !== undefined) {
    yield `it declares "${unknown}", which is no field of a plugin; the fields are ${[...fields].join(", ")}`;
  }
  yield* identityProblems(plugin);
  yield* dependencyProblems(plugin);
  yield* dataProblems(plugin);
  yield* permissionProblems(plugin);
  yield* pageProblems(plugin);
}

function* identityProblems({ id, title, summary, setup, enabled, whenOff }: AnyPlugin): Generator<string> {
  if (typeof id !== "string" || !/^[a-z][a-z0-9-]{0,59}$/.test(id)) {
    yield `its id ${show(id)} must be lower-case letters, digits and hyphens, and begin with a letter, like its folder`;
  }
  if (reserved.has(id)) {
    yield `its id "${id}" is kept for the platform; choose another one`;
  }
  if (typeof title !== "string" || title.trim() === "") {
    yield "it has no title: one that people can read is needed";
  }
  if (summary !== undefined && typeof summary !== "string") {
    yield `its summary ${show(summary)} must be a sentence that says what it does`;
  }
  if (typeof setup !== "function") {
    yield "it has no setup function";
  }
  if (enabled !== undefined && typeof enabled !== "function") {
    yield "its `enabled` must be a function that reads the setting, such as `(config) => config.enabled`";
  }
  if (whenOff !== undefined && ![401, 403, 404, 503].includes(whenOff)) {
    yield `its whenOff ${show(whenOff)} must be 401, 403, 404 or 503`;
  }
}

function* dependencyProblems({ uses, provides, config }: AnyPlugin): Generator<string> {
  for (const [name, ref] of Object.entries((uses ?? {}) as Record<string, { kind?: string } | undefined>)) {
    if (!["service", "optional", "slot"].includes(ref?.kind ?? "")) {
      yield `uses.${name} is ${show(ref)}: name a ref made with defineService or defineSlot, or optional(ref)`;
    }
  }
  for (const ref of toList(provides) ?? ["no list"]) {
    if ((ref as { kind?: string } | undefined)?.kind !== "service") {
      yield `provides must be a list of refs made with defineService; it holds ${show(ref)}`;
    }
  }
  for (const [name, variable] of Object.entries(
    (config ?? {}) as Record<string, { fromText?: unknown } | undefined>,
  )) {
    if (typeof variable?.fromText !== "function") {
      yield `config.${name} is ${show(variable)}: declare it with bool, int, text, … of #config/variable.ts`;
    }
  }
}

function* dataProblems({ tables, migrations, resources }: AnyPlugin): Generator<string> {
  if (tables !== undefined && !Array.isArray(tables.names)) {
    yield 'its tables must be named with tables<Rows>("first", "second")';
  }
  for (const [name, migration] of Object.entries(
    (migrations ?? {}) as Record<string, { up?: unknown } | undefined>,
  )) {
    if (!/^\d{4}_[a-z0-9_]+$/.test(name)) {
      yield `its migration "${name}" must be named like 0001_what_it_does: steps run in the order of their names`;
    }
    if (typeof migration?.up !== "function") {
      yield `its migration "${name}" has no up function`;
    }
  }
  for (const type of toList(resources) ?? ["no list", 0]) {
    if (typeof type !== "string" || type === "") {
      yield `resources must be a list of resource types; it holds ${show(type)}`;
    }
  }
}

function* permissionProblems({ permissions }: AnyPlugin): Generator<string> {
  for (const permission of toList(permissions) ?? ["no list"]) {
    const { path, default: allowed } = (permission ?? {}) as { path?: unknown; default?: unknown };
    if (
      typeof path !== "string" ||
      !/^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/.test(path) ||
      typeof allowed !== "boolean"
    ) {
      yield `the permission ${show(permission)} must look like { path: "features.almanac", default: true }`;
    }
  }
}

/** Ids begin with the plugin's own, so only this plugin's pages can share one. */
function* pageProblems({ id, pages }: AnyPlugin): Generator<string> {
  const seen = new Map<string, string>();
  for (const page of toList(pages) ?? ["no list"]) {
    if (typeof page !== "object" || page === null) {
      yield `pages must be a list of { id, path, title, place, access }; it holds ${show(page)}`;
    }
    const { id: pageId, path } = page as Page;
    const problem = findPageProblem(id, page as Page);
    if (problem !== undefined) {
      yield `its page ${show(pageId)} ${problem}`;
    }
    if ([...seen.values()].includes(pageId)) {
      yield `its page "${pageId}" is declared twice; ids of pages are unique`;
    }
    const other = seen.get(toPathShape(path));
    if (other !== undefined) {
      yield `its page "${pageId}" has the path ${path}, as its page "${other}" does`;
    }
    seen.set(toPathShape(path), pageId);
  }
}

/** The list, an empty one for nothing, undefined for something else. */
function toList(value: unknown): readonly unknown[] | undefined {
  return value === undefined ? [] : Array.isArray(value) ? value : undefined;
}

function show(value: unknown): string {
  return typeof value === "function" ? "a function" : (JSON.stringify(value) ?? "undefined");
}
