// @ts-check
/// <reference path="../../docs/functions.d.ts" />
/*
title: Rate limit
description: Lets each user send so many requests in so many seconds.
version: 1.0.0
license: MIT
*/

// The window slides: a request counts for exactly `seconds`, whenever a minute began. Requests that were refused do
// not count. The times are kept in `host.storage`, so that a restart does not forgive anything, and each user's are
// that user's own. With several replicas, requests at the same moment on two of them may both be let through. A pipe that
// asks a model counts twice: as the request for the pipe, and as its own.

export const meta = { priority: -1000, capabilities: { storage: true } };

/** @satisfies {Millrace.Valves} */
export const valves = {
  requests: {
    type: "integer",
    default: 20,
    minimum: 1,
    maximum: 1000,
    description: "Requests in one window",
  },
  seconds: { type: "integer", default: 60, minimum: 1, maximum: 86_400, description: "Length of the window" },
  exemptAdmins: { type: "boolean", default: true, description: "Administrators are not limited" },
};

/** @satisfies {Millrace.Inlet<typeof valves>} */
export const inlet = async (_body, { user, valves, host }) => {
  if (user === null || (valves.exemptAdmins && user.role === "admin")) {
    return;
  }
  await inTurn(user.id, async () => {
    const now = Date.now();
    const start = now - valves.seconds * 1000;
    const stored = await host.storage.get("times", { user: true });
    const times = (Array.isArray(stored) ? stored : []).filter(
      (time) => typeof time === "number" && time > start,
    );
    if (times.length >= valves.requests) {
      // With a limit that was lowered there may be more; the newest of those that must go is the one to wait for.
      const free = Number(times.at(-valves.requests)) + valves.seconds * 1000;
      throw new Error(toRefusal(valves, free - now, free));
    }
    await host.storage.set("times", [...times, now], { user: true });
  });
};

/**
 * Two requests of one user at once must not both take the last place. The queue forgets users who have none waiting.
 * @type {Map<string, Promise<void>>}
 */
const queues = new Map();

/**
 * @param {string} key
 * @param {() => Promise<void>} run
 */
async function inTurn(key, run) {
  const before = queues.get(key) ?? Promise.resolve();
  const mine = before.catch(() => {}).then(run);
  queues.set(key, mine);
  try {
    await mine;
  } finally {
    if (queues.get(key) === mine) {
      queues.delete(key);
    }
  }
}

/**
 * An error in inlet ends the request, and its text is what the caller reads.
 * @param {Millrace.ValvesOf<typeof valves>} valves
 * @param {number} wait Milliseconds.
 * @param {number} at Epoch milliseconds.
 */
function toRefusal({ requests, seconds }, wait, at) {
  const left = Math.max(1, Math.ceil(wait / 1000));
  const time = new Date(at).toISOString().slice(11, 19);
  return (
    `You may send ${requests} ${requests === 1 ? "request" : "requests"} in ${toWords(seconds)}. ` +
    `Try again in ${toWords(left)}, at ${time} UTC.`
  );
}

/** @param {number} seconds */
function toWords(seconds) {
  const [count, unit] = seconds < 120 ? [seconds, "second"] : [Math.ceil(seconds / 60), "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
