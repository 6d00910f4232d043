import { expect, it } from "vitest";
import { createKeptItems } from "./kept-items.ts";

const item = (id: string, text = "") => ({ id, type: "message", status: "completed", text });

it("finds items of the same account only", () => {
  const items = createKeptItems();
  items.keep("ana", [item("a"), item("b")]);
  expect(items.find("ana", "b")).toEqual(item("b"));
  expect([items.find("bob", "b"), items.find("ana", "c")]).toEqual([undefined, undefined]);
});

it("lets items go after an hour", () => {
  let time = 0;
  const items = createKeptItems(() => time);
  items.keep("ana", [item("a")]);
  time = 59 * 60_000;
  items.keep("ana", [item("b")]);
  expect(items.find("ana", "a")).toEqual(item("a"));
  time = 61 * 60_000;
  expect([items.find("ana", "a"), items.find("ana", "b")]).toEqual([undefined, item("b")]);
});

it("keeps no more than fits, the latest of them, and nothing that is too long", () => {
  const items = createKeptItems();
  const large = "x".repeat(1000 * 1024);
  for (let n = 0; n < 30; n++) {
    items.keep("ana", [item(`i${n}`, large)]);
  }
  items.keep("ana", [item("huge", large + large)]);
  const there = Array.from({ length: 30 }, (_, n) => items.find("ana", `i${n}`) !== undefined);
  expect([there[0], there[13], there[14], there[29]]).toEqual([false, false, true, true]);
  expect(items.find("ana", "huge")).toBeUndefined();
});
