import { defineEvent } from "./events.ts";

/** Work of the platform that stopped by itself, in a process that saw it go well before. */
export interface Trouble {
  readonly kind: "job" | "connection" | "disk";
  /** Id of the job, address of the connection, or the percentage of the disk. */
  readonly id: string;
  /** Its name for people. */
  readonly name: string;
  readonly reason: string;
}

/** Told once when something begins to fail, not at each of its failures. */
export const troubleBegan = defineEvent<Trouble>("trouble:began");
