// How Node is started for the server. Plain JavaScript with built-ins only: it runs on any Node from 20 on.
import { availableParallelism } from "node:os";

/**
 * `--no-node-snapshot`: isolated-vm cannot run with Node's start-up snapshot.
 *
 * `--v8-pool-size`: garbage collection and compilation get a helper thread for each processor that the server leaves
 * free. More helpers wait for each other and cost a stream of tokens up to a quarter of its time (P4).
 *
 * `--no-allocation-site-pretenuring`: objects of a request live until its model has answered. Under load V8 takes them
 * for long-lived and allocates them in the old space, which costs a quarter of the time of every request and makes
 * pauses ten times as long (P1).
 */
export const nodeFlags = [
  "--no-node-snapshot",
  "--no-allocation-site-pretenuring",
  `--v8-pool-size=${Math.min(4, Math.max(1, availableParallelism() - 1))}`,
];
