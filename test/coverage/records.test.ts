import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toMigrationSets } from "#kernel/release.ts";
import { orderPlugins } from "#kernel/order.ts";
import { kernelServiceIds } from "#kernel/parts.ts";
import { catalogue } from "#plugins/catalogue.ts";
import type { Database } from "#storage/database.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { type FieldType, legacyRecords, specifiedRecords } from "./records.fixture.ts";

let database: Database;
let columns: Map<string, Map<string, string>>;

beforeAll(async () => {
  database = await openTestDatabase(toMigrationSets(orderPlugins(catalogue, kernelServiceIds)));
  const { rows } = await sql<{ table: string; column: string; type: string }>`
    select table_name as table, column_name as column, data_type as type
    from information_schema.columns where table_schema = 'public'`.execute(database.db);
  columns = new Map();
  for (const { table, column, type } of rows) {
    columns.set(table, (columns.get(table) ?? new Map<string, string>()).set(column, type));
  }
});

afterAll(() => database?.close());

const present = specifiedRecords.filter(({ owner }) => owner !== "not yet");
const missing = specifiedRecords.filter(({ owner }) => owner === "not yet");

/** How a column keeps a field of each type. */
const columnTypes: Record<FieldType, readonly string[]> = {
  text: ["text", "character varying"],
  time: ["bigint"],
  int: ["bigint", "integer"],
  json: ["jsonb"],
  bool: ["boolean"],
};

test("the fixture names every record once", () => {
  const names = specifiedRecords.map(({ name }) => name);
  expect(names.length).toBe(39);
  expect(new Set(names).size).toBe(names.length);
});

describe("a specified record has its fields", () => {
  test.each(present.map((record) => [record.name, record] as const))("%s", (name, { owner, fields }) => {
    const table = columns.get(name);
    expect(table, "the table exists").toBeDefined();
    expect(findOwner(name)).toBe(owner);
    const wrong = Object.entries(fields).filter(
      ([field, type]) => !columnTypes[type].includes(table?.get(field) ?? ""),
    );
    expect(wrong.map(([field, type]) => `${field}: ${type}, columnTypes as ${table?.get(field)}`)).toEqual(
      [],
    );
  });
});

// When one of these fails, its record has come: name its owner in the fixture.
test("a record that is not yet there is really not there", () => {
  expect(missing.filter(({ name }) => columns.has(name))).toEqual([]);
});

test("legacy records are absent, and the docs say so", async () => {
  expect(legacyRecords.filter((name) => columns.has(name))).toEqual([]);
  const page = await readFile(new URL("../../docs/operating.md", import.meta.url), "utf8");
  expect(legacyRecords.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

/** Tables of the kernel; every other table has to belong to a plugin. */
const core = [
  "access_grant",
  "config",
  "group",
  "group_member",
  "idempotent_answer",
  "notice_body",
  "revoked_token",
  "secret",
  "user",
];

test("every plugin's tables exist, and every table has one owner", () => {
  const named = catalogue.flatMap((plugin) => (plugin.tables?.names ?? []) as string[]);
  expect([...named, ...core].toSorted()).toEqual([...columns.keys()].toSorted());
});

function findOwner(table: string): string {
  return catalogue.find((plugin) => ((plugin.tables?.names ?? []) as string[]).includes(table))?.id ?? "core";
}
