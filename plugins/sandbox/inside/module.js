// The evaluated module and its exports.
import { state } from "./environment.js";
import { parse, slice, stringify } from "./natives.js";
import { apply, getOwnPropertyDescriptor, keys } from "./primordials.js";
import { cut } from "./values.js";

/** Takes the evaluated module and tells of its exports. Throws when reading them does. */
export function adopt(namespace) {
  state.module = namespace;
  const seen = { __proto__: null, functions: [], data: { __proto__: null }, tools: { __proto__: null } };
  const main = getOwnPropertyDescriptor(namespace, "default")?.value;
  const all = { __proto__: null };
  const sources = typeof main === "object" && main !== null ? [main, namespace] : [namespace];
  for (let at = 0; at < sources.length; at++) {
    const found = keys(sources[at]);
    for (let n = 0; n < found.length; n++) {
      all[found[n]] = sources[at][found[n]];
    }
  }
  const found = keys(all);
  for (let at = 0; at < found.length; at++) {
    const name = found[at];
    const value = all[name];
    if (name === "tools" && typeof value === "object" && value !== null) {
      const tools = keys(value);
      for (let n = 0; n < tools.length; n++) {
        seen.tools[tools[n]] = parse(stringify(value[tools[n]]) ?? "{}");
      }
    } else if (typeof value === "function") {
      seen.functions[seen.functions.length] = name;
    } else if (name !== "default" && value !== undefined && typeof value !== "symbol") {
      seen.data[name] = parse(stringify(value) ?? "null");
    }
  }
  return stringify(seen);
}

/** Finds an export by name, `tools.<name>` for the run function of a tool; a default export's own members count too. */
export function find(name) {
  const isTool = cut(name, 6) === "tools.";
  const holder = isTool ? exported("tools") : undefined;
  const key = isTool ? apply(slice, name, [6]) : name;
  if (isTool) {
    const tool = holder && getOwnPropertyDescriptor(holder, key)?.value;
    return { self: tool, run: typeof tool === "function" ? tool : tool?.run };
  }
  return { self: undefined, run: exported(key) };
}

function exported(name) {
  // A namespace inherits nothing.
  const value = state.module[name];
  if (value !== undefined) {
    return value;
  }
  const main = getOwnPropertyDescriptor(state.module, "default")?.value;
  return typeof main === "object" && main !== null ? getOwnPropertyDescriptor(main, name)?.value : undefined;
}
