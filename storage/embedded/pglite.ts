import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { fromInt8 } from "../values.ts";
import type { WorkerOptions } from "./protocol.ts";

/** Opens the database, whose values then look as they do from a server; see values.ts. */
export async function openPglite({ folder, schema }: WorkerOptions): Promise<PGlite> {
  const database = await PGlite.create({
    dataDir: folder,
    extensions: { vector },
    // A quarter of the usual size saves 100 MB; the system caches the files anyway.
    startParams: [...PGlite.defaultStartParams, "-c", "shared_buffers=32MB"],
    parsers: { [INT8]: fromInt8, [DATE]: asText, [INTERVAL]: asText },
    serializers: {
      [JSON_TYPE]: serializeJson,
      [JSONB]: serializeJson,
      [UNKNOWN]: toText,
      [TEXT]: toText,
      [BPCHAR]: toText,
      [VARCHAR]: toText,
    },
  });
  await database.exec("create extension if not exists vector");
  if (schema) {
    await database.exec(`create schema if not exists "${schema}"; set search_path to "${schema}", public`);
  }
  return database;
}

// The numbers Postgres has for its types.
const UNKNOWN = 0;
const INT8 = 20;
const TEXT = 25;
const JSON_TYPE = 114;
const BPCHAR = 1042;
const VARCHAR = 1043;
const DATE = 1082;
const INTERVAL = 1186;
const JSONB = 3802;

const asText = (value: string) => value;

function toText(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

/** Objects arrive as text already. A server would take an array for a Postgres array and refuse it; so must we. */
function serializeJson(value: unknown): string {
  if (Array.isArray(value)) {
    throw new TypeError(
      "An array for a json column must be given as toJson(value): a bare array is a Postgres array",
    );
  }
  return String(value);
}
