import { setTimeout as pause } from "node:timers/promises";
import type { CoreConfig } from "#config/core.ts";
import type { Database } from "#storage/database.ts";
import type { Host } from "./host.ts";
import type { Listening } from "./http/listen.ts";
import type { OwnListeners } from "./http/own-listeners.ts";
import type { Logger } from "./log.ts";
import type { Parts } from "./parts.ts";
import type { OpenRequests } from "./requests.ts";
import type { Sockets } from "./sockets/server.ts";

/** Everything that a stop has to close. */
export interface Stopping {
  config: CoreConfig;
  log: Logger;
  database: Database;
  parts: Parts;
  host: Host;
  listening: Listening;
  beside: OwnListeners;
  sockets: Sockets;
  requests: OpenRequests;
  stopping: AbortController;
}

/** Aborted work gets this long to write its last state after the grace time. */
const lastWordsMs = 3_000;

/** Unready at once, then running answers get their time, then everything closes in reverse. */
export async function stopAll({
  config,
  log,
  database,
  parts,
  host,
  listening,
  beside,
  sockets,
  requests,
  stopping,
}: Stopping): Promise<void> {
  const graceMs = config.shutdownGraceSeconds * 1000;
  parts.readiness.ready = false;
  parts.disk.stop();
  parts.announceSystemEvent("system.shutdown.started");
  requests.closeConnections();
  // At once, so that clients are with another replica while the runs that speak to them end here.
  sockets.close();
  const closed = Promise.all([listening.close(), beside.close()]);
  log.info({ open: requests.count(), graceSeconds: config.shutdownGraceSeconds }, "stopping");
  const jobsStopped = parts.jobs.stop(graceMs);
  // Work that cannot end, such as without the database, must not keep the process alive.
  const workEnded = Promise.race([
    host.drain(graceMs),
    pause(graceMs + lastWordsMs, undefined, { ref: false }),
  ]);
  const [isDrained] = await Promise.all([requests.drained(graceMs), workEnded]);
  if (!isDrained) {
    log.warn({ open: requests.count() }, "the time to finish is over; the remaining answers are broken off");
  }
  stopping.abort();
  sockets.terminate();
  listening.breakConnections();
  beside.breakConnections();
  await closed;
  await jobsStopped;
  parts.announceSystemEvent("system.shutdown.completed");
  await host.stop();
  await parts.egress.close();
  await database.close();
  log.info("stopped");
}
