// The stream hook of a module, for the router that takes chunks through the hooks of a run (inside/stream-router.js).
// Texts go in and come out: the chunk that the code sees is made here, in its own context, and nothing else leaves it.
import { addMembers, toShared } from "./context.js";
import { Call } from "./call.js";
import { send, state } from "./environment.js";
import { find } from "./module.js";
import { parse, split } from "./natives.js";
import { apply, freeze, isArray, maxItemText, RangeError_, TypeError_ } from "./primordials.js";
import { toReport, toText } from "./values.js";

/**
 * Binds the stream hook of this module to a run. `context` is the JSON of its context, which runs share; `lazyMembers` are
 * the names, apart by tabs, of members that the host is asked for when the code reads them.
 *
 * `read` takes the JSON of a chunk. `pass` answers the JSON of what the hook makes of it, nothing for a chunk that the hook
 * drops, and `!` with a report of what failed. They are apart because the time that reading takes is not laid to the hook.
 */
export function bindStreamHook(context, lazyMembers, run) {
  const call = new Call(`hook ${++state.serial}`, "");
  const hook = find("stream").run;
  if (typeof hook !== "function") {
    throw new TypeError_("The module exports no stream function.");
  }
  call.toMember = (_, name) => readMember(run, name);
  call.lazyMembers = lazyMembers === "" ? [] : apply(split, lazyMembers, ["\t"]);
  const own = { ...toShared(context) };
  addMembers(call, own);
  freeze(own);
  let chunk;
  return freeze({
    __proto__: null,
    read(text) {
      chunk = parse(text);
      if (text.length > maxItemText) {
        // The engine looks at the time where a built-in calls a function: here, before there is a hook to be blamed.
        parse("[0]", () => 0);
      }
    },
    pass() {
      try {
        state.current = call;
        const next = hook(chunk, own);
        return next === null ? "" : toChunkText(next === undefined ? chunk : next);
      } catch (error) {
        return `!${toReport(error)}`;
      } finally {
        chunk = undefined;
      }
    },
  });
}

function toChunkText(value) {
  if (typeof value === "object" && !isArray(value) && !("then" in value)) {
    const text = toText(value);
    if (text[0] === "{") {
      return text;
    }
  }
  throw new TypeError_("A stream hook returns a chunk, null or nothing, and is not async.");
}

function readMember(run, name) {
  const text = send("later", run, undefined, name);
  if (text === undefined) {
    throw new RangeError_(`ctx.${name} cannot be read here: it is too long, or the run is over.`);
  }
  return parse(text);
}
