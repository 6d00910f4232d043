import type { Kysely, Transaction } from "kysely";
import type { DatabaseCopy } from "./embedded/copy.ts";

// The tables are known to the callers, who narrow the handle; storage itself knows none of them.
// oxlint-disable typescript/no-explicit-any

/** An open database, embedded or on a server. Both kinds answer alike. */
export interface Database {
  readonly kind: "embedded" | "server";
  /** For single statements. Using it inside a running transaction of the same async context throws at once. */
  readonly db: Kysely<any>;
  /** The one way to open a transaction; the callback awaits nothing but queries on `tx`. A nested call throws. */
  transaction<R>(run: (tx: Transaction<any>) => Promise<R>): Promise<R>;
  /** True when the `vector` extension is there. */
  readonly hasVector: boolean;
  /** Announces JSON to every process on this database; more than 7,900 bytes throw. */
  notify(channel: string, payload: unknown): Promise<void>;
  /** Calls back for each announcement, own ones included; resolves to the way to stop. */
  listen(channel: string, handler: (payload: unknown) => void): Promise<() => Promise<void>>;
  /** Called when announcements may have been missed (a connection was lost): caches must be dropped. */
  onListenGap(handler: () => void): void;
  /** False while announcements are being missed; `onListenGap` tells when that is over. */
  isHearing(): boolean;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  /** Raw SQL; without values it may hold several statements, whose rows come joined. For job queues. */
  query(text: string, values?: unknown[]): Promise<{ rows: any[] }>;
  /**
   * Copies the embedded database as it is now; statements wait meanwhile. Throws StorageError for a server, which has
   * tools of its own for that.
   */
  copy(): Promise<DatabaseCopy>;
  /** Waits for what runs, writes everything to disk and lets go of the folder or the connections. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** `postgres://…`; left out or empty for the embedded database. */
  url?: string;
  /** Folder of the embedded database. */
  dataDir: string;
  /** DATABASE_SCHEMA: where tables live instead of `public`. */
  schema?: string;
  pool?: {
    size?: number;
    maxOverflow?: number;
    timeoutSeconds?: number;
    /** How long one statement may go unanswered; 20 when left out, 0 for ever. See statement-timeout.ts. */
    queryTimeoutSeconds?: number;
    recycleSeconds?: number;
  };
  /** False on a server that others migrate: its schema and extension are taken as they are. True when left out. */
  mayCreate?: boolean;
  /** How long a server that cannot be reached is waited for at the start; 10 when left out. */
  patienceSeconds?: number;
  /** The folder is thrown away after closing, so nothing is brought to the disk. */
  disposable?: boolean;
  log?(message: string): void;
}
