import { expect, it } from "vitest";
import { OutputDiff } from "./output-diff.ts";
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
  const [diff, items] = [new OutputDiff(), [message(), call()] as const];
  items.forEach((item) => diff.whole(item));
  diff.text(items[1], "{");
  expect(diff.flush(items)).toEqual([
    { at: 0, item: items[0] },
    { at: 1, item: items[1] },
  ]);
  diff.text(items[1], "}");
  diff.text(items[0], "a");
  diff.text(items[0], "b");
  expect(diff.flush(items)).toEqual([
    { at: 1, text: "}" },
    { at: 0, text: "ab" },
  ]);
  diff.details(items[0], [1]);
  diff.details(items[0], [2]);
  expect(diff.flush(items)).toEqual([{ at: 0, details: [1, 2] }]);
  expect(diff.flush(items)).toEqual([]);
  diff.text(items[0], "c");
  diff.clear();
  expect(diff.flush(items)).toEqual([]);
});

it("tells an item whole that got another part", () => {
  const [diff, item] = [new OutputDiff(), message()];
  diff.whole(item);
  diff.flush([item]);
  item.content.push({ type: "refusal", refusal: "No" });
  diff.text(item, "No");
  expect(diff.flush([item])).toEqual([{ at: 0, item }]);
  diff.text(item, "!");
  expect(diff.flush([item])).toEqual([{ at: 0, text: "!" }]);
});
