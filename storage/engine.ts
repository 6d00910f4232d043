import type { Dialect } from "kysely";

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
  /** Ends what lies below the dialect. */
  close(): Promise<void>;
}
