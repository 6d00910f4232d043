import { describe, expect, test } from "vitest";
import { openDatabase } from "./database.ts";

describe("opening", () => {
  test.each([
    ["sqlite:///data/webui.db", /SQLite/],
    ["sqlite+pysqlite:////x.db", /SQLite/],
    ["mysql://u:hidden@h/db", /postgres:\/\//],
    ["just text hidden", /postgres:\/\//],
    ["postgres://u:hidden@h:notaport/db", /cannot be read/],
  ])("refuses %s with a message that keeps the password", async (url, message) => {
    const error = await openDatabase({ url, dataDir: "/nowhere" }).then(
      () => undefined,
      (reason: Error) => reason,
    );
    expect(error?.message).toMatch(message);
    expect(`${error?.message} ${error?.stack} ${JSON.stringify(error)}`).not.toContain("hidden");
  });

  test("says which server does not answer, without the password", async () => {
    const url = "postgres://someone:hidden@127.0.0.1:1/app";
    const error = await openDatabase({ url, dataDir: "/nowhere", patienceSeconds: 0 }).catch(
      (reason: Error) => reason,
    );
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(/127\.0\.0\.1:1\/app cannot be used: .*ECONNREFUSED/);
    expect(`${(error as Error).message} ${(error as Error).stack}`).not.toContain("hidden");
  });

  test("refuses a schema name that is more than a name", async () => {
    await expect(openDatabase({ dataDir: "/nowhere", schema: "a; drop schema public" })).rejects.toThrow(
      /DATABASE_SCHEMA/,
    );
  });
});
