import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createAccess } from "#kernel/access/resource.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { createFileLoaders, type FileLoaders } from "./access.ts";
import { migration } from "./migrations/0001_files.ts";
import { createFileStore } from "./store.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let loaders: FileLoaders;
let file: string;
let isShared = false;
/** What was asked of the database and of plugins that refer to files. */
let asked: string[] = [];

beforeAll(async () => {
  database = await openTestDatabase([{ owner: "files", migrations: { "0001_files": migration } }]);
  const store = createFileStore(database.db);
  file = randomUUID();
  await store.insert({
    id: file,
    userId: "anna",
    hash: "h",
    filename: "a",
    path: "a",
    status: "completed",
    meta: {},
  });
  await store.order(file, "a long text");
  const noted = <A extends unknown[], R>(what: string, run: (...args: A) => R) => {
    return (...args: A) => {
      asked.push(what);
      return run(...args);
    };
  };
  loaders = createFileLoaders(
    {
      ...store,
      find: noted("text", store.find),
      findBare: noted("row", store.findBare),
      textOf: noted("text", store.textOf),
    },
    createAccess({
      adminsPass: () => true,
      grants: { allowed: noted("grants", async () => new Set<string>()) },
    }),
    {
      list: () => [
        { id: "test", isReachable: noted("references", async (_by, id) => isShared && id === file) },
      ],
    },
  );
});
beforeEach(() => {
  asked = [];
  isShared = false;
});
afterAll(() => database?.close());

const ben = { userId: "ben", role: "user", groupIds: [] } as unknown as Principal;
const load = async (id: string, action: "read" | "write") => {
  await expect(loaders.reachable.load(ben, id, action)).rejects.toMatchObject({ code: "not_found" });
  const steps = asked;
  asked = [];
  return steps;
};

it.each(["read", "write"] as const)("to %s a foreign file costs what an absent one costs", async (action) => {
  const foreign = await load(file, action);
  expect(foreign).toEqual(await load(randomUUID(), action));
  expect(foreign).not.toContain("text");
});

it("a file that something refers to comes with its text", async () => {
  isShared = true;
  expect(await loaders.reachable.load(ben, file, "read")).toMatchObject({ content: "a long text" });
  expect(asked).toEqual(["row", "grants", "references", "text"]);
});
