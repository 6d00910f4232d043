import { describe, expect, it } from "vitest";
import { type KnownTree, planTree } from "./plan-tree.ts";
import { readSentTree, type SentMessage } from "./sent-tree.ts";

/** A sent message by its links: undefined ones were not sent. */
function sent(id: string, parentId?: string | null, childrenIds?: string[]): SentMessage {
  return { id, message: { role: "user" }, parentId, childrenIds };
}

/** A stored tree written as `id: [parent, position]`. */
function stored(links: Record<string, [string | null, number]>): KnownTree {
  const places = Object.entries(links).map(
    ([id, [parent_id, position]]) => [id, { id, parent_id, position }] as const,
  );
  return { places: new Map(places), parents: new Map(places.map(([id, { parent_id }]) => [id, parent_id])) };
}

const nothing = stored({});

/** What a plan does, in short. */
function plan(messages: SentMessage[], known: KnownTree = nothing, heal = false) {
  const { inserts, patches, positions } = planTree(messages, known, { heal });
  return {
    inserts: Object.fromEntries(
      inserts.map(({ sent: { id }, parentId, position }) => [id, [parentId, position]]),
    ),
    moves: Object.fromEntries(
      patches.flatMap(({ sent: { id }, parentId }) => (parentId === undefined ? [] : [[id, parentId]])),
    ),
    positions: Object.fromEntries(positions.map(({ id, position }) => [id, position])),
  };
}

const family = stored({ r: [null, 0], a: ["r", 0], b: ["r", 1], c: ["r", 2] });

describe("new messages", () => {
  it.each<[string, SentMessage[], Record<string, [string | null, number]>]>([
    ["hang below the parent they name", [sent("a"), sent("b", "a")], { a: [null, 0], b: ["a", 0] }],
    [
      "hang below the parent that names them",
      [sent("a", null, ["b"]), sent("b")],
      { a: [null, 0], b: ["a", 0] },
    ],
    [
      "believe their own link first",
      [sent("a", null, ["c"]), sent("b", null), sent("c", "b")],
      { a: [null, 0], b: [null, 1], c: ["b", 0] },
    ],
    [
      "stand in the order of childrenIds",
      [sent("a", null, ["c", "b"]), sent("b", "a"), sent("c", "a")],
      { a: [null, 0], b: ["a", 1], c: ["a", 0] },
    ],
    [
      "else in the order they are sent in",
      [sent("a"), sent("c", "a"), sent("b", "a")],
      { a: [null, 0], c: ["a", 0], b: ["a", 1] },
    ],
    ["may come before their parents", [sent("b", "a"), sent("a", null)], { b: ["a", 0], a: [null, 0] }],
    ["may have several roots", [sent("a", null), sent("b", null)], { a: [null, 0], b: [null, 1] }],
  ])("%s", (_name, messages, inserts) => {
    expect(plan(messages).inserts).toEqual(inserts);
  });

  it("come after the siblings that are there, which stay where they are", () => {
    expect(plan([sent("d", "r")], family)).toEqual({ inserts: { d: ["r", 3] }, moves: {}, positions: {} });
  });
});

describe("messages that are there", () => {
  it.each<[string, SentMessage[], ReturnType<typeof plan>]>([
    ["stay without a link", [sent("a")], { inserts: {}, moves: {}, positions: {} }],
    ["stay with the same link", [sent("b", "r")], { inserts: {}, moves: {}, positions: {} }],
    ["move below another", [sent("b", "a")], { inserts: {}, moves: { b: "a" }, positions: { b: 0 } }],
    ["become a root by null", [sent("c", null)], { inserts: {}, moves: { c: null }, positions: { c: 1 } }],
    [
      "are reordered",
      [sent("r", undefined, ["c", "a", "b"])],
      { inserts: {}, moves: {}, positions: { c: 0, a: 1, b: 2 } },
    ],
    [
      "that are not listed come last",
      [sent("r", undefined, ["c"])],
      { inserts: {}, moves: {}, positions: { c: 0, a: 1, b: 2 } },
    ],
    [
      "do not follow who claims them",
      [sent("a", undefined, ["b"])],
      { inserts: {}, moves: {}, positions: {} },
    ],
  ])("%s", (_name, messages, expected) => {
    expect(plan(messages, family)).toEqual(expected);
  });
});

describe("a broken tree", () => {
  const chain = stored({ r: [null, 0], a: ["r", 0], b: ["a", 0] });
  it.each<[string, SentMessage[], KnownTree, RegExp]>([
    ["an unknown parent", [sent("x", "ghost")], nothing, /does not have: ghost/],
    ["itself as parent", [sent("x", "x")], nothing, /own ancestor/],
    ["a circle of new messages", [sent("x", "z"), sent("y", "x"), sent("z", "y")], nothing, /own ancestor/],
    ["a circle through stored messages", [sent("r", "b")], chain, /own ancestor/],
    ["a circle through a new message", [sent("r", "n"), sent("n", "b")], chain, /own ancestor/],
  ])("with %s is refused, and mended where that is wanted", (_name, messages, known, reason) => {
    expect(() => plan(messages, known)).toThrow(reason);
    const parents = new Map(known.parents);
    const healed = planTree(messages, known, { heal: true });
    healed.inserts.forEach(({ sent: { id }, parentId }) => parents.set(id, parentId));
    healed.patches.forEach(
      ({ sent: { id }, parentId }) => void (parentId === undefined || parents.set(id, parentId)),
    );
    for (const id of parents.keys()) {
      const seen = new Set<string>();
      for (let at: string | null | undefined = id; at; at = parents.get(at)) {
        expect(seen.has(at)).toBe(false);
        expect(parents.has(at)).toBe(true);
        seen.add(at);
      }
    }
  });
});

it("plans a chain of 100,000 messages in any order without recursion", () => {
  const chain = Array.from({ length: 100_000 }, (_, n) => sent(`m${n}`, n === 0 ? null : `m${n - 1}`));
  expect(planTree(chain.toReversed(), nothing, { heal: false }).inserts.length).toBe(100_000);
});

describe("the messages of a chat object", () => {
  const message = { role: "user", content: "x" };
  it.each([
    [
      "history wins over the flat list",
      { history: { messages: { a: message } }, messages: [{ ...message, id: "b" }] },
      ["a"],
      undefined,
    ],
    [
      "an empty history gives way to it",
      { history: { messages: {}, currentId: null }, messages: [{ ...message, id: "b" }] },
      ["b"],
      "b",
    ],
    ["no messages", { history: { currentId: "" } }, [], null],
    [
      "currentId of history wins",
      { currentId: "b", history: { currentId: "a", messages: { a: message } } },
      ["a"],
      "a",
    ],
    ["currentId at the top", { currentId: "a", history: { messages: { a: message } } }, ["a"], "a"],
  ])("%s", (_name, chat, ids, currentId) => {
    const tree = readSentTree(chat);
    expect(tree.messages.map(({ id }) => id)).toEqual(ids);
    expect(tree.currentId).toBe(currentId);
  });

  it("without ids are refused in a chat that is there, and named in one that is new", () => {
    expect(() => readSentTree({ messages: [message] })).toThrow(/no id/);
    let n = 0;
    const tree = readSentTree({ messages: [message, message] }, { makeId: () => `made${n++}` });
    expect(tree.messages.map(({ id, parentId }) => [id, parentId])).toEqual([
      ["made0", null],
      ["made1", "made0"],
    ]);
    expect(() =>
      readSentTree({
        messages: [
          { ...message, id: "a" },
          { ...message, id: "a" },
        ],
      }),
    ).toThrow(/same id/);
  });
});
