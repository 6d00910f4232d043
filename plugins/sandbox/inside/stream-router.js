// Takes the chunks of all runs of an owner through their stream hooks. No code of an author runs in this context: a hook is
// a pair of functions of its own context that take and give texts (inside/stream-hook.js), and nothing else goes from one
// hook to the next. Everything that waits crosses the border in one list: entering an isolate and watching its time costs
// more than a usual hook does (P4, P6).

/** By id: how the stream hook of a module is bound to a run, and the runs that stream. */
const binders = { __proto__: null };
const runs = { __proto__: null };

class Run {
  /** `{ read, pass }` of each hook; undefined for one that is left out. */
  hooks = [];
  /** Failures that the host does not know of yet, `place:report` each, apart by tabs. */
  failures = "";
}

/** One crossing: its list, the place in it, and the answer so far. */
class Crossing {
  at = 0;
  /** The run that begins. */
  begun = undefined;
  /** The batch that is under way, and the hook that it is passing. */
  chunks = undefined;
  place = 0;
  /** How many chunks are through that hook, what came of them, and how the hook is busy. */
  passed = 0;
  kept = [];
  busy = "";
  /** Hooks that are through with a batch, in this crossing. */
  steps = 0;
  answer = [];

  constructor(list) {
    this.list = list;
  }
}

let crossing;

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
    crossing.begun.hooks.push(undefined);
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
    run.hooks.push(hook);
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
  answer.push(run?.failures ?? "");
  answer.push(chunks.length);
  for (const chunk of chunks) {
    answer.push(chunk);
  }
  if (run) {
    run.failures = "";
  }
  crossing.chunks = undefined;
  crossing.place = 0;
  crossing.at += 3 + count;
}

function toChunks(count) {
  const chunks = [];
  for (let at = 0; at < count; at++) {
    chunks.push(crossing.list[crossing.at + 3 + at]);
  }
  return chunks;
}

/** All chunks of the batch through one hook. One that fails is left out from that chunk on. */
function passHook(run) {
  const { chunks, kept, place } = crossing;
  // Where the host broke the crossing off, some of them are through.
  for (; crossing.passed < chunks.length; crossing.passed++) {
    const text = chunks[crossing.passed];
    const answer = passChunk(run.hooks[place], text);
    if (answer[0] === "!") {
      leaveOut(run);
      addFailure(run, place, answer.slice(1));
      kept.push(text);
    } else if (answer !== "") {
      kept.push(answer);
    }
  }
  crossing.chunks = kept;
  crossing.kept = [];
  crossing.passed = 0;
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

const toReport = (message) => JSON.stringify({ message, stack: "" });

export const entries = { __proto__: null, cross, register, resume, retry, where };
