import type { Dialect } from "kysely";
import type { DatabaseCopy } from "./embedded/copy.ts";

/** The interface of the embedded and the server database; `database.ts` makes the common handle of it. */
export interface Engine {
  readonly kind: "embedded" | "server";
  readonly dialect: Dialect;
  readonly hasVector: boolean;
  /** Raw SQL; several statements when there are no values. */
  run(text: string, values: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
  /** Subscribes this process to a channel; `channel` is already quoted-safe. */
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  /** False while announcements are being missed. */
  isHearing(): boolean;
  /** Set by the owner: where announcements and lost subscriptions are told. */
  onNotification: (channel: string, payload: string) => void;
  onGap: () => void;
  /** Copies the whole database beside itself; undefined for a server, which has tools of its own for that. */
  copy?(): Promise<DatabaseCopy>;
  /** Ends what lies below the dialect. */
  close(): Promise<void>;
}
