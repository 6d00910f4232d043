import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Engine } from "../engine.ts";
import { StorageError } from "../errors.ts";
import type { DatabaseOptions } from "../handle.ts";
import { toParameter } from "../values.ts";
import { startClient, type EmbeddedClient } from "./client.ts";
import { embeddedDialect } from "./dialect.ts";
import { lockFolder, type FolderLock } from "./lock.ts";
import type { QueryResult } from "./protocol.ts";

/** Name of the database's folder inside DATA_DIR. */
export const EMBEDDED_FOLDER = "database";

/**
 * Opens the embedded database in `dataDir`. It writes without fsync: what was acknowledged survives the death of
 * the process, but not a power cut; an orderly close brings everything to the disk.
 * Its first start needs 1.3 GB for a moment and 2–4 s, later ones half a second.
 */
export async function openEmbedded(options: DatabaseOptions): Promise<Engine> {
  const log = options.log ?? (() => {});
  const dataDir = resolve(options.dataDir);
  try {
    await mkdir(dataDir, { recursive: true });
  } catch (error) {
    throw new StorageError(`DATA_DIR ${dataDir} cannot be created: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const lock = await lockFolder(dataDir, log);
  try {
    const client = await startClient({ folder: join(dataDir, EMBEDDED_FOLDER), schema: options.schema }, log);
    await lock.verify();
    return toEngine({ client, lock, disposable: options.disposable ?? false });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function toEngine(parts: { client: EmbeddedClient; lock: FolderLock; disposable: boolean }): Engine {
  const { client, lock, disposable } = parts;
  const engine: Engine = {
    kind: "embedded",
    dialect: embeddedDialect(client),
    hasVector: client.hasVector,
    run: (text, values) => client.call<QueryResult>({ op: "run", text, values: values.map(toParameter) }),
    subscribe: (channel) => client.call({ op: "listen", channel }),
    unsubscribe: (channel) => client.call({ op: "unlisten", channel }),
    isHearing: () => true,
    onNotification: () => {},
    onGap: () => {},
    async close() {
      try {
        if (!disposable) {
          await client.call({ op: "close" });
        }
      } finally {
        await client.terminate();
        await lock.release();
      }
    },
  };
  client.onNotification = (channel, payload) => engine.onNotification(channel, payload);
  return engine;
}
