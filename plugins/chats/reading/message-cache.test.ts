import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { createMessageCache } from "./message-cache.ts";
import { MessageText } from "./message-rows.ts";

const texts = (...ids: string[]) => new Map(ids.map((id) => [id, ofVersion("1")]));
const ofVersion = (version: string | null) => new MessageText("x".repeat(10), version);
const first = (id: string) => ({ id, version: "1" });

it("gives texts of one state of a row, and of no other", () => {
  const kept = createMessageCache({ most: 200, idleMs: 1000 });
  kept.add("c", texts("a"));
  expect(kept.find("c", first("a"))?.members).toHaveLength(10);
  expect(kept.find("c", { id: "a", version: "2" })).toBeUndefined();
  expect(kept.find("other", first("a"))).toBeUndefined();
  kept.add("c", new Map([["a", ofVersion("2")]]));
  expect(kept.find("c", { id: "a", version: "2" })).toBeDefined();
});

it("keeps nothing of a message that a run writes: its row does not say when it changes", () => {
  const kept = createMessageCache({ most: 200, idleMs: 1000 });
  kept.add("c", new Map([["a", ofVersion(null)]]));
  expect(kept.find("c", { id: "a", version: null })).toBeUndefined();
});

it("makes room at the cost of the chat that was read longest ago, and keeps of one chat what fits", () => {
  const kept = createMessageCache({ most: 80, idleMs: 1000 });
  kept.add("old", texts("a", "b"));
  kept.add("new", texts("a"));
  kept.add("old", texts("a"));
  kept.add("third", texts("a", "b"));
  expect(kept.find("new", first("a"))).toBeUndefined();
  expect(kept.find("old", first("b"))).toBeDefined();
  kept.add("third", texts("c", "d", "e"));
  expect(kept.find("old", first("a"))).toBeUndefined();
  expect(["a", "b", "c", "d", "e"].map((id) => kept.find("third", first(id)) !== undefined)).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
});

it("forgets chats that nobody reads any more", async () => {
  const kept = createMessageCache({ most: 200, idleMs: 40 });
  kept.add("c", texts("a"));
  expect(kept.find("c", first("a"))).toBeDefined();
  await delay(120);
  expect(kept.find("c", first("a"))).toBeUndefined();
});
