import { join, resolve } from "node:path";
import type { Engine } from "../engine.ts";
import { StorageError } from "../errors.ts";
import type { DatabaseOptions } from "../handle.ts";
import { makeFolder } from "../make-folder.ts";
import { toParameter } from "../values.ts";
import { startClient, type EmbeddedClient } from "./client.ts";
import { makeCopy, removeStaleCopies } from "./copy.ts";
import { embeddedDialect } from "./dialect.ts";
import { EMBEDDED_FOLDER } from "./folder.ts";
import { lockFolder, type FolderLock } from "./lock.ts";
import type { QueryResult } from "./protocol.ts";

/**
 * Opens the embedded database in `dataDir`. It writes without fsync: what was acknowledged survives the death of
 * the process, but not a power cut; an orderly close brings everything to the disk.
 * Its first start needs 1.3 GB for a moment and 2–4 s, later ones half a second.
 */
export async function openEmbedded(options: DatabaseOptions): Promise<Engine> {
  const log = options.log ?? (() => {});
  const dataDir = resolve(options.dataDir);
  try {
    await makeFolder(dataDir);
  } catch (error) {
    throw new StorageError(`DATA_DIR ${dataDir} cannot be created: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const lock = await lockFolder(dataDir, log);
  try {
    const client = await startClient({ folder: join(dataDir, EMBEDDED_FOLDER), schema: options.schema }, log);
    await lock.verify();
    await removeStaleCopies(dataDir);
    return toEngine({ client, lock, dataDir, disposable: options.disposable ?? false });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

interface EngineParts {
  client: EmbeddedClient;
  lock: FolderLock;
  dataDir: string;
  disposable: boolean;
}

function toEngine({ client, lock, dataDir, disposable }: EngineParts): Engine {
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
    copy: () => makeCopy(dataDir, (target) => client.call({ op: "copy", target })),
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
