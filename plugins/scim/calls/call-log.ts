import { toObject } from "#config/json-values.ts";
import type { RequestInfo } from "#kernel/http/route.ts";
import { surfaces } from "#kernel/http/surfaces.ts";
import type { Logger } from "#kernel/log.ts";
import { seconds } from "#storage/clock.ts";
import type { ScimDatabase } from "../tables.ts";

/** A call that was answered. */
export interface AnsweredCall {
  readonly request: RequestInfo;
  readonly status: number;
  readonly durationMs: number;
  /** The body of a refusal. */
  readonly refusal?: string;
}

/** A call as the administrators' page shows it. */
export interface KeptCall {
  readonly id: number;
  readonly created_at: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly duration_ms: number;
  readonly address: string;
  readonly client: string | null;
}

/** The last calls of identity providers. */
export interface CallLog {
  /** Never rejects: an answer does not depend on its record. */
  record(call: AnsweredCall): Promise<void>;
  /** The latest first. */
  list(limit: number): Promise<KeptCall[]>;
  /** Deletes all but the latest. */
  trim(): Promise<void>;
}

const kept = 1000;
const longestPath = 500;
const longestDetail = 500;
const longestClient = 300;
/** Whoever has no token writes at most so often into the database. */
const strangersEveryMs = 1000;

/** Opens the log of calls. */
export function createCallLog(db: ScimDatabase, log: Logger): CallLog {
  let strangerAt = Number.NEGATIVE_INFINITY;
  return {
    async record(call) {
      if (call.status === 401) {
        const now = performance.now();
        if (now - strangerAt < strangersEveryMs) {
          return;
        }
        strangerAt = now;
      }
      try {
        await db.insertInto("scim_call").values(toRow(call)).execute();
      } catch (error) {
        log.warn({ err: error }, "a SCIM call could not be kept for the page of administrators");
      }
    },
    list: async (limit) =>
      await db.selectFrom("scim_call").selectAll().orderBy("id", "desc").limit(limit).execute(),
    async trim() {
      const oldest = db.selectFrom("scim_call").select("id").orderBy("id", "desc").offset(kept).limit(1);
      await db.deleteFrom("scim_call").where("id", "<=", oldest).execute();
    },
  };
}

function toRow({ request, status, durationMs, refusal }: AnsweredCall) {
  const { scimType: reason, detail } = refusal === undefined ? {} : toObject(JSON.parse(refusal));
  return {
    created_at: seconds(),
    method: request.method,
    path: clean(request.url.slice(surfaces.scim.base.length), longestPath),
    status,
    reason: typeof reason === "string" ? reason : null,
    detail: typeof detail === "string" ? clean(detail, longestDetail) : null,
    duration_ms: durationMs,
    address: request.address,
    client: request.headers["user-agent"]?.slice(0, longestClient) ?? null,
  };
}

/** A cut in the middle of a character, or a NUL, could not be stored. */
function clean(text: string, longest: number): string {
  return text.slice(0, longest).toWellFormed().replaceAll("\0", "");
}
