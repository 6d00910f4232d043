// Entries of calls: the host begins one, answers what it asked, ends it.
import { Call, bringMembers, close, fail, finish, leave, leaving, refuse, refuseAll } from "./call.js";
import { addMembers, toShared } from "./context.js";
import { calls, onLoop, state } from "./environment.js";
import { begin } from "./generator.js";
import { toSource } from "./host-functions.js";
import { find } from "./module.js";
import { parse } from "./natives.js";
import { apply, freeze, isArray, newList } from "./primordials.js";
import { isObject, settle } from "./values.js";

/**
 * Begins a call. The list holds its id, its name, whether it is iterated and whether its result is discarded (0 or 1), the
 * JSON of what calls share, lazy members, the names of host functions, and the JSON of each argument.
 *
 * On the event loop's own thread the answer is how the call ended and what came of it, if it ended before the entry did.
 */
export function enter(list) {
  // No pattern: code may have changed how lists are gone through.
  const call = new Call(list[0], list[6]);
  call.discardsResult = list[3] === 1;
  call.shared = list[4];
  call.isEntering = onLoop;
  bringMembers(call, list[5]);
  run(call, list[1], list, list[2] === 1);
  call.isEntering = false;
  return call.ending;
}

function run(call, name, list, isIterated) {
  calls[call.id] = state.current = call;
  let value;
  try {
    const found = find(name);
    if (typeof found.run !== "function") {
      leave(call, "missing", name);
      return;
    }
    value = apply(found.run, found.self, toArguments(call, list));
  } catch (error) {
    fail(call, error);
    return;
  }
  settle(
    value,
    (answer) => (isIterated ? begin(call, answer) : finish(call, answer)),
    (error) => fail(call, error),
  );
}

const firstArgument = 7;

/** The context is the last of the arguments, if it is an object. Adds to it what a context has besides. */
function toArguments(call, list) {
  const args = newList();
  for (let at = firstArgument; at < list.length; at++) {
    args[args.length] = parse(list[at]);
  }
  const last = args[args.length - 1];
  if (isObject(last) && !isArray(last)) {
    const context = call.shared === "" ? last : { ...toShared(call.shared), ...last };
    addMembers(call, context);
    args[args.length - 1] = args.length > 1 ? freeze(context) : context;
  }
  return args;
}

/** Ends a call whose answer is not wanted any more; a generator is told, so that its `finally` blocks run. */
export function end(id) {
  const call = calls[id] ?? leaving[id];
  if (!call) {
    return;
  }
  state.current = call;
  const source = call.live ? call.source : undefined;
  close(call);
  refuseAll(call);
  try {
    const stop = source?.return;
    if (typeof stop === "function") {
      settle(
        apply(stop, source, []),
        () => {},
        () => {},
      );
    }
  } catch {}
}

export function answer(id, at, isOk, text, isSource) {
  const call = calls[id];
  const asked = call?.pending?.[at];
  if (!asked) {
    return;
  }
  state.current = call;
  delete call.pending[at];
  call.waiting--;
  call.waitingLength -= asked.length;
  if (isSource) {
    asked.resolve(toSource(call, at));
  } else if (isOk) {
    asked.resolve(text === undefined ? undefined : parse(text));
  } else {
    refuse(asked, text);
  }
}
