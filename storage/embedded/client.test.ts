import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isUnavailable, StorageError } from "../errors.ts";
import { prepareTestDataDir } from "../testing.ts";
import { startClient } from "./client.ts";

let folder: string;
let log: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "client-"));
  log = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("a thread that ends fails what waits and what comes later as unavailable", async () => {
  const place = await prepareTestDataDir({}, "embedded");
  const client = await startClient({ folder: join(place.env.DATA_DIR!, "database") }, (message) =>
    log.push(message),
  );
  const waiting = client
    .call({ op: "run", text: "select pg_sleep(60)", values: [] })
    .catch((error: unknown) => error);
  await client.terminate();
  expect(isUnavailable(await waiting)).toBe(true);
  const later = await client
    .call({ op: "run", text: "select 1", values: [] })
    .catch((error: unknown) => error);
  expect(isUnavailable(later)).toBe(true);
  await place.remove();
});

test("a folder that holds something else is refused with its name", async () => {
  const path = join(folder, "database");
  await writeFile(path, "not a folder");
  const error: unknown = await startClient({ folder: path }, () => {}).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StorageError);
  expect((error as Error).message).toContain(`${path} cannot be opened`);
});

test("errors keep what the database said and lose the values", async () => {
  const place = await prepareTestDataDir({}, "embedded");
  const client = await startClient({ folder: join(place.env.DATA_DIR!, "database") }, () => {});
  const insert = {
    op: "query",
    text: "insert into secret values ($1, $2)",
    values: ["name", "hidden-value"],
  } as const;
  await client.call(insert);
  const error: unknown = await client.call(insert).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "23505", constraint: "secret_pkey", table: "secret" });
  expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain("hidden-value");
  await client.terminate();
  await place.remove();
});
