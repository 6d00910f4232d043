// Timers belong to the call that set them and end with it.
import { write } from "./console.js";
import { calls, send, state } from "./environment.js";
import {
  apply,
  Error_,
  maxTimers,
  now,
  RangeError_,
  then_,
  timersPerSecond,
  TypeError_,
} from "./primordials.js";
import { resolved } from "./values.js";

// Each timer is a message to the host, which must not drown in them.
let timerSecond = 0;
let timersSet = 0;

function countTimer() {
  const at = now();
  if (at - timerSecond >= 1000) {
    timerSecond = at;
    timersSet = 0;
  }
  if (++timersSet > timersPerSecond) {
    throw new RangeError_(`Timers can be set ${timersPerSecond} times a second.`);
  }
}

function setTimer(run, ms, args, isRepeated) {
  const call = state.current;
  if (typeof run !== "function") {
    throw new TypeError_("A timer needs a function.");
  }
  if (!call?.live) {
    throw new Error_("Timers run within a call; there is none.");
  }
  if (call.set >= maxTimers) {
    throw new RangeError_(`A call can have ${maxTimers} timers.`);
  }
  countTimer();
  const at = ++state.serial;
  call.set++;
  call.timers ??= { __proto__: null };
  call.timers[at] = { run, args, ms: isRepeated ? ms : undefined };
  send("timer", call.id, undefined, +ms || 0, at);
  return at;
}

function clearTimer(at) {
  const call = state.current;
  if (call?.timers?.[at]) {
    delete call.timers[at];
    call.set--;
  }
}

export function tick(id, at) {
  const call = calls[id];
  const timer = call?.timers?.[at];
  if (!timer) {
    return;
  }
  state.current = call;
  try {
    if (timer.ms === undefined) {
      clearTimer(at);
    } else {
      countTimer();
      send("timer", id, undefined, +timer.ms || 0, at);
    }
    apply(timer.run, undefined, timer.args);
  } catch (error) {
    write("error", [error]);
  }
}

globalThis.setTimeout = (run, ms, ...args) => setTimer(run, ms, args, false);
globalThis.setInterval = (run, ms, ...args) => setTimer(run, ms, args, true);
globalThis.clearTimeout = clearTimer;
globalThis.clearInterval = clearTimer;
globalThis.queueMicrotask = (run) => void apply(then_, resolved(), [() => run()]);
