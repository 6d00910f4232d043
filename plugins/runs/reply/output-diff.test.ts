import { expect, it } from "vitest";
import { Growth } from "./output-diff.ts";
import type { CallItem, MessageItem } from "./items.ts";

const message = (): MessageItem => ({
  type: "message",
  id: "m",
  status: "in_progress",
  role: "assistant",
  content: [{ type: "output_text", text: "" }],
});
const call = (): CallItem => ({
  type: "function_call",
  id: "c",
  status: "in_progress",
  call_id: "c",
  name: "look",
  arguments: "",
});

it("tells what was added to each item since it was asked last", () => {
  const [growth, items] = [new Growth(), [message(), call()] as const];
  items.forEach((item) => growth.whole(item));
  growth.text(items[1], "{");
  expect(growth.take(items)).toEqual([
    { at: 0, item: items[0] },
    { at: 1, item: items[1] },
  ]);
  growth.text(items[1], "}");
  growth.text(items[0], "a");
  growth.text(items[0], "b");
  expect(growth.take(items)).toEqual([
    { at: 1, text: "}" },
    { at: 0, text: "ab" },
  ]);
  growth.details(items[0], [1]);
  growth.details(items[0], [2]);
  expect(growth.take(items)).toEqual([{ at: 0, details: [1, 2] }]);
  expect(growth.take(items)).toEqual([]);
  growth.text(items[0], "c");
  growth.clear();
  expect(growth.take(items)).toEqual([]);
});

it("tells an item whole that got another part", () => {
  const [growth, item] = [new Growth(), message()];
  growth.whole(item);
  growth.take([item]);
  item.content.push({ type: "refusal", refusal: "No" });
  growth.text(item, "No");
  expect(growth.take([item])).toEqual([{ at: 0, item }]);
  growth.text(item, "!");
  expect(growth.take([item])).toEqual([{ at: 0, text: "!" }]);
});
