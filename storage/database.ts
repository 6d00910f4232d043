import { Kysely } from "kysely";
import { openEmbedded } from "./embedded/open.ts";
import type { Engine } from "./engine.ts";
import { StorageError } from "./errors.ts";
import { createGuard } from "./guard.ts";
import type { Database, DatabaseOptions } from "./handle.ts";
import { createListeners, encodeNotice, NOTIFY_SQL } from "./notify.ts";
import { timeQuery } from "./query-times.ts";
import { openServer } from "./server/open.ts";

export type { DatabaseCopy } from "./embedded/copy.ts";
export type { Database, DatabaseOptions } from "./handle.ts";
export { isUnavailable, isUniqueViolation } from "./errors.ts";

/** Opens the server `url` names, or the embedded database in `dataDir` when there is none. Throws StorageError. */
export async function openDatabase(given: DatabaseOptions): Promise<Database> {
  const options = { ...given, schema: given.schema === "public" ? undefined : given.schema };
  if (options.schema && !/^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(options.schema)) {
    throw new StorageError("DATABASE_SCHEMA must be a plain name: letters, digits and _ (at most 40)");
  }
  const url = options.url?.trim() ?? "";
  if (url === "") {
    return toDatabase(await openEmbedded(options), options);
  }
  // The address may hold a password, so no message repeats it.
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? "";
  if (scheme.startsWith("sqlite")) {
    throw new StorageError(
      "DATABASE_URL names an SQLite database, which is not supported. Leave it out for the embedded database, or give postgres://user:password@host:5432/name",
    );
  }
  if (scheme !== "postgres" && scheme !== "postgresql") {
    throw new StorageError(
      "DATABASE_URL must start with postgres:// or postgresql://. Leave it out for the embedded database",
    );
  }
  return toDatabase(await openServer(url, options), options);
}

function toDatabase(engine: Engine, options: DatabaseOptions): Database {
  const guard = createGuard();
  const prefix = options.schema ? `${options.schema}.` : "";
  const log = options.log ?? (() => {});
  const gapHandlers = new Set<() => void>();
  // oxlint-disable-next-line typescript/no-explicit-any -- callers narrow the handle to their tables
  const db = new Kysely<any>({ dialect: guard.protect(engine.dialect) });
  const listeners = createListeners({
    subscribe: (channel) => engine.subscribe(prefix + channel),
    unsubscribe: (channel) => engine.unsubscribe(prefix + channel),
    log,
  });
  engine.onNotification = (channel, text) => listeners.deliver(channel.slice(prefix.length), text);
  engine.onGap = () => gapHandlers.forEach((handler) => handler());
  return {
    kind: engine.kind,
    db,
    hasVector: engine.hasVector,
    transaction: (run) => db.transaction().execute((tx) => guard.inside(() => run(tx))),
    async notify(channel, payload) {
      guard.check();
      await engine.run(NOTIFY_SQL, [channel, encodeNotice(channel, payload)]);
    },
    async listen(channel, handler) {
      guard.check();
      return await listeners.add(channel, handler);
    },
    onListenGap: (handler) => void gapHandlers.add(handler),
    isHearing: () => engine.isHearing(),
    async ping() {
      guard.check();
      await engine.run("select 1", []);
    },
    async query(text, values) {
      guard.check();
      return await timeQuery(() => engine.run(text, values ?? []));
    },
    async copy() {
      guard.check();
      if (engine.copy === undefined) {
        throw new StorageError(
          "Only the embedded database is copied here; take a dump of a server with pg_dump",
        );
      }
      return await engine.copy();
    },
    close: onceOnly(async () => {
      await db.destroy();
      await engine.close();
    }),
  };
}

/** Several callers may close; all wait for the same end. */
function onceOnly(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= run());
}
