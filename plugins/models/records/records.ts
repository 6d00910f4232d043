import { sql } from "kysely";
import type { Grants } from "#storage/grants.ts";
import type { Logger } from "#kernel/log.ts";
import type { ModelDatabase } from "../tables.ts";

/** A saved model with who may read or write it, as the way of a completion needs it: without its picture. */
export interface ModelRecord {
  readonly id: string;
  readonly user_id: string;
  readonly base_model_id: string | null;
  readonly name: string;
  readonly model: string | null;
  readonly params: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly is_active: boolean;
  readonly created_at: number;
  readonly updated_at: number;
  readonly grants: readonly { principal_type: string; principal_id: string; permission: string }[];
}

export type RecordMap = ReadonlyMap<string, ModelRecord>;

/** All records by id, kept in memory: the way of a completion does not wait for the database. */
export interface ModelRecords {
  /** The copy of now; only the very first call waits for the database. */
  current(): RecordMap | Promise<RecordMap>;
  /** The copy once changes that were heard of are in it, or could not be read. */
  fresh(): Promise<RecordMap>;
  /** Reads all of it anew; resolves when a reading that began now has ended. */
  refresh(): Promise<void>;
  /** Reads anew after an announcement, as often as it takes. */
  follow(): void;
}

interface RecordsOptions {
  readonly db: ModelDatabase;
  readonly grants: Grants;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const retryMs = 1_000;

/** Keeps the copy; until a new reading has ended the old one answers. */
export function createModelRecords({ db, grants, log, signal }: RecordsOptions): ModelRecords {
  let copy: RecordMap | undefined;
  let reading: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function read(): Promise<void> {
    reading = load(db, grants)
      .then((records) => void (copy = records))
      .finally(() => (reading = undefined));
    return reading;
  }

  /** A reading under way may have begun before the change, so that one more has to follow it. */
  function refresh(): Promise<void> {
    if (reading === undefined) {
      return read();
    }
    next ??= reading.then(ignore, ignore).then(() => {
      next = undefined;
      return read();
    });
    return next;
  }

  function follow(): void {
    refresh().catch((error: unknown) => {
      if (!signal.aborted) {
        log.warn({ err: error }, "saved models could not be read anew; trying again");
        setTimeout(follow, retryMs).unref();
      }
    });
  }

  const first = async () => {
    await (reading ?? read());
    return copy as RecordMap;
  };

  return {
    refresh,
    follow,
    current: () => copy ?? first(),
    async fresh() {
      // While the database does not answer, the last good copy is better than none.
      await (next ?? reading)?.catch(ignore);
      return copy ?? (await first());
    },
  };
}

/** Rows come without their pictures, which may be megabytes and which no completion looks at. */
async function load(db: ModelDatabase, grants: Grants): Promise<RecordMap> {
  const rows = await db
    .selectFrom("model")
    .select([
      "id",
      "user_id",
      "base_model_id",
      "name",
      "model",
      "params",
      "is_active",
      "created_at",
      "updated_at",
    ])
    .select(sql<Record<string, unknown>>`meta - 'profile_image_url'`.as("meta"))
    .execute();
  const ids = rows.map(({ id }) => id);
  const granted = Map.groupBy(await grants.list("model", ids), (grant) => grant.resource_id);
  return new Map(rows.map((row) => [row.id, { ...row, grants: granted.get(row.id) ?? [] }]));
}

function ignore(): void {}
