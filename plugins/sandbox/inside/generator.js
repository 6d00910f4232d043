// Calls whose answer is a generator.
import { fail, finish, leave } from "./call.js";
import { calls, send, state } from "./environment.js";
import { join } from "./natives.js";
import {
  apply,
  asyncIterator,
  isArray,
  iterator,
  maxItems,
  maxItemText,
  quietTurns,
  then_,
} from "./primordials.js";
import { resolved, settle, toReport, toText } from "./values.js";

/** A generator waits until the host asks for items; anything else is one item. */
export function begin(call, answer) {
  let next;
  try {
    if (typeof answer === "object" && answer !== null && !isArray(answer)) {
      const make =
        answer[asyncIterator] ?? (typeof answer.next === "function" ? answer[iterator] : undefined);
      call.source = make && apply(make, answer, []);
      next = call.source?.next;
    }
  } catch (error) {
    fail(call, error);
    return;
  }
  if (typeof next !== "function") {
    finish(call, answer);
    return;
  }
  call.next = next;
  send("begun", call.id);
}

/** Takes up to `count` items. Those that are ready together travel together; a slow one is not waited for. */
export function pull(id, count) {
  const call = calls[id];
  if (call) {
    state.current = call;
    call.items = [];
    call.size = 0;
    call.left = count < maxItems ? count : maxItems;
    take(call);
  }
}

function take(call) {
  let step;
  try {
    step = apply(call.next, call.source, []);
  } catch (error) {
    flush(call, false);
    fail(call, error);
    return;
  }
  settle(
    step,
    (result) => keep(call, result),
    (error) => {
      flush(call, false);
      fail(call, error);
    },
  );
}

function keep(call, result) {
  if (!call.live) {
    return;
  }
  try {
    if (result.done) {
      flush(call, false);
      finish(call, undefined);
      return;
    }
    const text = toText(result.value);
    if (text !== undefined) {
      call.items[call.items.length] = text;
      call.size += text.length;
    }
  } catch (error) {
    flush(call, false);
    leave(call, "value", toReport(error));
    return;
  }
  call.left--;
  if (call.left === 0 || call.size > maxItemText) {
    flush(call, true);
    return;
  }
  if (call.items.length === 1) {
    wait(call, call.items, quietTurns);
  }
  take(call);
}

/** Sends what was collected when the next item does not come within some turns. */
function wait(call, items, turns) {
  void apply(then_, resolved(), [
    () => {
      if (call.items === items && items.length > 0) {
        if (items.length !== items.seen) {
          items.seen = items.length;
          wait(call, items, quietTurns);
        } else if (turns > 0) {
          wait(call, items, turns - 1);
        } else {
          flush(call, false);
        }
      }
    },
  ]);
}

/** `isFull` tells the host that this pull is over. */
function flush(call, isFull) {
  const { items } = call;
  call.items = [];
  call.size = 0;
  if (call.live && (items.length > 0 || isFull)) {
    send("items", call.id, `[${apply(join, items, [","])}]`, isFull ? "full" : "");
  }
}
