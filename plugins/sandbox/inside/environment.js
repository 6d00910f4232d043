/* global $0, $1, $2 */
// Parameters of the bootstrap, which the host fills in (host/boot.ts), and the state of the context.

/** `send` posts a message to the host, `lookup` asks for a pure fact, `onLoop`: the code runs on the event loop's own thread. */
export const [send, lookup, onLoop] = [$0, $1, $2];

/**
 * The module of the author, and the call whose code runs. Each entry runs until nothing is left to do, so that one call
 * runs at a time.
 */
export const state = { __proto__: null, module: undefined, current: undefined, serial: 0 };

/** Calls that have not ended, by id. */
export const calls = { __proto__: null };
