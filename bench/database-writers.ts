import { readlinkSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { basename } from "node:path";
import { workerData } from "node:worker_threads";
import { call } from "./call.ts";
import type { Running } from "./contestant.ts";

/** The data of the writers' thread. */
export interface WritersOptions extends Pick<Running, "port" | "headers"> {
  /** Callers, each of whom sends the next request when the last one is answered. */
  readonly writers: number;
  /** Counts the writes, and is 1 when they are to end. */
  readonly shared: Int32Array;
}

// Writes and reads through the platform's own routes, as fast as the callers can. The client that reads the streams
// shares this processor and has priority: its waiting would count as the platform's.
setPriority(Number(basename(readlinkSync("/proc/thread-self"))), constants.priority.PRIORITY_LOW);

const { writers, shared, ...running } = workerData as WritersOptions;

async function write(caller: number): Promise<void> {
  for (let n = 0; Atomics.load(shared, 1) === 0; n++) {
    const group = { name: `bench-${caller}-${n}`, description: "A group of some length. ".repeat(200) };
    const { id } = (await call(running, "POST /api/v1/groups/create", group)) as { id: string };
    const ui = { [`bench${caller}`]: "A setting of some length. ".repeat(200), turn: n };
    await call(running, "POST /api/v1/users/user/settings/update", { ui });
    await call(running, "GET /api/v1/users/?page=1");
    await call(running, `DELETE /api/v1/groups/id/${id}/delete`);
    Atomics.add(shared, 0, 3);
  }
}

await Promise.all(Array.from({ length: writers }, (_, caller) => write(caller)));
