import { expect, test } from "vitest";
import { branchTo, columnsOf, leafOf, versionsOf } from "./tree.ts";
import type { ChatMessage } from "./types.ts";

function message(id: string, parentId: string | null, more: Partial<ChatMessage> = {}): ChatMessage {
  const role = id.startsWith("q") ? "user" : "assistant";
  return { id, parentId, childrenIds: [], role, content: id, timestamp: 1, ...more };
}

const ids = (list: readonly ChatMessage[]) => list.map(({ id }) => id);
const messages = new Map(
  [
    message("q1", null, { childrenIds: ["a1", "b1", "a2"] }),
    message("q2", null),
    message("a1", "q1", { modelIdx: 0, childrenIds: ["q3"] }),
    message("b1", "q1", { modelIdx: 1 }),
    message("a2", "q1", { modelIdx: 0 }),
    message("q3", "a1", { childrenIds: ["gone"] }),
  ].map((each) => [each.id, each]),
);

test("follows a branch from its leaf and to its newest end", () => {
  expect(ids(branchTo(messages, "q3"))).toEqual(["q1", "a1", "q3"]);
  expect(branchTo(messages, undefined)).toEqual([]);
  expect(leafOf(messages, "q1")).toBe("a2");
  expect(leafOf(messages, "a1")).toBe("q3");
});

test("tells versions of a message from replies side by side", () => {
  expect(versionsOf(messages, "a1")).toEqual(["a1", "a2"]);
  expect(versionsOf(messages, "b1")).toEqual(["b1"]);
  expect(versionsOf(messages, "q2")).toEqual(["q1", "q2"]);
  expect(ids(columnsOf(messages, "a1"))).toEqual(["a1", "b1"]);
  expect(ids(columnsOf(messages, "b1"))).toEqual(["a2", "b1"]);
});

test("ends with a chain that bites its own tail", () => {
  const ring = new Map(
    [message("q1", "a1", { childrenIds: ["a1"] }), message("a1", "q1", { childrenIds: ["q1"] })].map(
      (each) => [each.id, each],
    ),
  );
  expect(ids(branchTo(ring, "a1"))).toEqual(["q1", "a1"]);
  expect(["q1", "a1"]).toContain(leafOf(ring, "q1"));
});
