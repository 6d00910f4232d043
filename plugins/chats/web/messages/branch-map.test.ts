import { expect, test } from "vitest";
import type { ChatMessage } from "../data/types.ts";
import { toMapRows } from "./branch-map.ts";

/** Messages by "id: child child", roots first. */
function tree(...lines: readonly string[]): ReadonlyMap<string, ChatMessage> {
  const children = new Map(
    lines.map((line) => [line.split(":")[0] ?? "", line.split(": ")[1]?.split(" ") ?? []]),
  );
  const parentOf = (id: string) => [...children].find(([, ids]) => ids.includes(id))?.[0] ?? null;
  const ids = new Set([...children.keys(), ...[...children.values()].flat()]);
  return new Map(
    [...ids].map((id) => [
      id,
      {
        id,
        parentId: parentOf(id),
        childrenIds: children.get(id) ?? [],
        role: "user",
        content: id,
        timestamp: 1,
      },
    ]),
  );
}

const shownAs = (messages: ReadonlyMap<string, ChatMessage>, shown: readonly string[]) =>
  toMapRows(messages, shown).map(
    (row) =>
      `${" ".repeat(row.depth)}${row.kind === "run" ? `(${row.count} from ${row.id})` : row.id}${row.isShown ? " *" : ""}`,
  );

test("sets older versions in, below what they answer, and marks the shown branch", () => {
  const messages = tree("q: a1 a2 a3", "a1: b1", "a3: c1 c2", "c1", "c2", "b1");
  expect(shownAs(messages, ["q", "a1", "b1"])).toEqual(["q *", " a1 *", " b1 *", " a2", "a3", " c1", "c2"]);
});

test("folds long stretches without a branch", () => {
  const messages = tree("1: 2", "2: 3", "3: 4", "4: 5", "5: 6 7", "6", "7: 8", "8");
  expect(shownAs(messages, ["1", "2", "3", "4", "5", "7", "8"])).toEqual([
    "1 *",
    "(3 from 2) *",
    "5 *",
    " 6",
    "7 *",
    "8 *",
  ]);
});

test("shows every message once, whatever hangs where", () => {
  const several = tree("x", "y: z");
  expect(shownAs(several, ["y", "z"])).toEqual([" x", "y *", "z *"]);
  const message = (id: string, parentId: string | null, childrenIds: string[]): ChatMessage => ({
    id,
    parentId,
    childrenIds,
    role: "user",
    content: "",
    timestamp: 0,
  });
  const odd = new Map([
    ["a", message("a", "gone", ["b", "lost", "b"])],
    ["b", message("b", "a", ["a"])],
  ]);
  expect(
    shownAs(odd, [])
      .map((row) => row.trim())
      .toSorted(),
  ).toEqual(["a", "b"]);
  const deep = tree(...Array.from({ length: 300 }, (_one, index) => `${index}: ${index + 1} v${index + 1}`));
  expect(toMapRows(deep, [])).toHaveLength(601);
});
