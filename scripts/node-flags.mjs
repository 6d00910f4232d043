// How Node is started for the server. Plain JavaScript with built-ins only: it runs on any Node from 20 on.
import { availableParallelism } from "node:os";

/**
 * Sandboxes need a Node without its start-up snapshot. Garbage collection and compiling get helpers only for the
 * processors that the server itself leaves free: with more of them they wait for each other, which costs a stream of
 * tokens up to a quarter of its time.
 */
export const nodeFlags = [
  "--no-node-snapshot",
  `--v8-pool-size=${Math.min(4, Math.max(1, availableParallelism() - 1))}`,
];
