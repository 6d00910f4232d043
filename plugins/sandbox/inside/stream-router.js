// Takes the chunks of all runs of an owner through their stream hooks. No code of an author runs in this context: a hook is
// a pair of functions of its own context that take and give texts (inside/stream-hook.js), and nothing else goes from one
// hook to the next. Everything that waits crosses the border in one list: entering an isolate and watching its time costs
// more than a usual hook does (P4, P6).
import { slice, stringify } from "./natives.js";
import { apply, newList, toRecord } from "./primordials.js";

/** By id: how the stream hook of a module is bound to a run, and the runs that stream. */
const binders = { __proto__: null };
const runs = { __proto__: null };

const Run = toRecord(
  class {
    /** `{ read, pass }` of each hook; undefined for one that is left out. */
    hooks = newList();
    /** Failures that the host does not know of yet, `place:report` each, apart by tabs. */
    failures = "";
  },
);

/** One crossing: its list, the place in it, and the answer so far. */
const Crossing = toRecord(
  class {
    at = 0;
    /** The run that begins. */
    begun = undefined;
    /** The batch that is under way: its chunks, those that the hook `place` is through with, and how that one is busy. */
    chunks = undefined;
    passed = undefined;
    place = 0;
    busy = "";
    /** Hooks that are through with a batch, in this crossing. */
    steps = 0;
    answer = newList();

    constructor(list) {
      this.list = list;
    }
  },
);

let crossing;
const add = (list, value) => void (list[list.length] = value);

function register(id, bind) {
  binders[id] = bind;
}

/**
 * Takes a list of messages, one after another:
 *   "+", run, count, and for each hook: binder, context, lazy members    begins a run
 *   "=", run, count, and each chunk                                      a batch
 *   "-", run                                                             ends a run
 *   "~", binder                                                          forgets a module
 * The answer has for each batch: what failed, the number of its chunks, and each chunk as the hooks left it.
 */
function cross(list) {
  crossing = new Crossing(list);
  return proceed();
}

/** Goes on after the host broke the crossing off, with what was under way. */
const retry = () => proceed();

/** Goes on without the hook that was under way; without the whole run when none was. */
function resume() {
  const [, run] = messageOf(crossing);
  if (crossing.begun) {
    add(crossing.begun.hooks, undefined);
  } else if (crossing.busy === "pass") {
    leaveOut(runs[run]);
  } else {
    delete runs[run];
  }
  return proceed();
}

/**
 * Tells where the host broke the crossing off: the run, the place of the hook whose code ran, if one did, how far the
 * crossing had got, and how many hooks were through with a batch.
 */
function where() {
  const [kind, run] = messageOf(crossing);
  const place = crossing.begun?.hooks.length ?? (crossing.busy === "pass" ? crossing.place : "");
  return `${kind === undefined ? "" : run}:${place}:${crossing.at}:${crossing.steps}`;
}

const messageOf = ({ list, at }) => [list[at], list[at + 1]];

function proceed() {
  const { list } = crossing;
  while (crossing.at < list.length) {
    const [kind, id] = messageOf(crossing);
    if (kind === "=") {
      passBatch(id, list[crossing.at + 2]);
    } else if (kind === "+") {
      begin(id, list[crossing.at + 2]);
    } else {
      delete (kind === "-" ? runs : binders)[id];
      crossing.at += 2;
    }
  }
  return crossing.answer;
}

const hookLength = 3;

function begin(id, count) {
  const { list } = crossing;
  const run = (crossing.begun ??= new Run());
  for (let place = run.hooks.length; place < count; place++) {
    const at = crossing.at + 3 + hookLength * place;
    const bind = binders[list[at]];
    let hook;
    try {
      const { read, pass } = bind(list[at + 1], list[at + 2], id);
      hook = { __proto__: null, read, pass };
    } catch {
      // The thrown value belongs to another context: it is not looked at.
      addFailure(run, place, toReport("The stream hook could not be opened."));
    }
    add(run.hooks, hook);
  }
  runs[id] = run;
  crossing.begun = undefined;
  crossing.at += 3 + hookLength * count;
}

function passBatch(id, count) {
  const run = runs[id];
  crossing.chunks ??= toChunks(count);
  if (run) {
    for (; crossing.place < run.hooks.length; crossing.place++) {
      passHook(run);
    }
  }
  const { answer, chunks } = crossing;
  add(answer, run?.failures ?? "");
  add(answer, chunks.length);
  for (let at = 0; at < chunks.length; at++) {
    add(answer, chunks[at]);
  }
  if (run) {
    run.failures = "";
  }
  crossing.chunks = undefined;
  crossing.place = 0;
  crossing.at += 3 + count;
}

function toChunks(count) {
  const chunks = newList();
  for (let at = 0; at < count; at++) {
    add(chunks, crossing.list[crossing.at + 3 + at]);
  }
  return chunks;
}

/** All chunks of the batch through one hook. One that fails is left out from that chunk on. */
function passHook(run) {
  const { chunks, place } = crossing;
  // Where the host broke it off, some of them are through.
  const progress = (crossing.passed ??= { __proto__: null, at: 0, kept: newList() });
  for (; progress.at < chunks.length; progress.at++) {
    const text = chunks[progress.at];
    const answer = passChunk(run.hooks[place], text);
    if (answer[0] === "!") {
      leaveOut(run);
      addFailure(run, place, apply(slice, answer, [1]));
      add(progress.kept, text);
    } else if (answer !== "") {
      add(progress.kept, answer);
    }
  }
  crossing.chunks = progress.kept;
  crossing.passed = undefined;
  crossing.steps++;
}

/** Leaves out the hook that is under way. */
function leaveOut(run) {
  run.hooks[crossing.place] = undefined;
}

function passChunk(hook, text) {
  if (hook === undefined) {
    return text;
  }
  const { read, pass } = hook;
  let answer;
  try {
    crossing.busy = "read";
    read(text);
    crossing.busy = "pass";
    answer = pass();
  } catch {}
  crossing.busy = "";
  return typeof answer === "string" ? answer : `!${toReport("The stream hook failed.")}`;
}

function addFailure(run, place, report) {
  run.failures += `${run.failures === "" ? "" : "\t"}${place}:${report}`;
}

const toReport = (message) => stringify({ __proto__: null, message, stack: "" });

export const entries = { __proto__: null, cross, register, resume, retry, where };
