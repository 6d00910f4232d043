import { expect, test } from "vitest";
import { createRecentErrors } from "./recent-errors.ts";

const error = (id: string, cause: string | null = null) => ({
  request_id: id,
  plugin: "chats",
  method: "GET",
  path: "/chats/:id",
  status: 500,
  answer: "Internal error",
  cause,
});

test("the newest come first and the oldest go", () => {
  const errors = createRecentErrors();
  for (let count = 1; count <= 250; count += 1) {
    errors.record(error(`r${count}`));
  }
  const ids = errors.list().map(({ request_id: id }) => id);
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([200, "r250", "r51"]);
});

test("secrets are masked", () => {
  const errors = createRecentErrors();
  errors.record(error("r", "Error: postgres://mill:river@db refused Bearer abcdefghijkl"));
  const [kept] = errors.list();
  expect(kept?.cause).toContain("refused");
  expect(kept?.cause).not.toMatch(/river|abcdefghijkl/);
});
