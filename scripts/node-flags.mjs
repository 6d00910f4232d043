// How Node is started for the server. Plain JavaScript with built-ins only: it runs on any Node from 20 on.
import { availableParallelism } from "node:os";

/**
 * Sandboxes need a Node without its start-up snapshot. Garbage collection and compiling get helpers only for the
 * processors that the server itself leaves free: with more of them they wait for each other, which costs a stream of
 * tokens up to a quarter of its time.
 *
 * What a request makes lives until its model has answered. Under load the engine takes that for a long life and begins
 * to make such objects among the old ones, where each keeps the rest of its request from being cleared away: a quarter
 * of the time of every request, and pauses ten times as long. So it may not guess.
 *
 * After eight quiet seconds the engine clears up. Where it favours memory it forgets the shapes of objects that are not
 * there just then, those of requests among them, and with them the compiled code that knows them: whoever comes after a
 * pause would pay three times the price for seconds. So it clears up as it does at other times.
 */
export const nodeFlags = [
  "--no-node-snapshot",
  "--no-allocation-site-pretenuring",
  "--no-memory-reducer-favors-memory",
  `--v8-pool-size=${Math.min(4, Math.max(1, availableParallelism() - 1))}`,
];
