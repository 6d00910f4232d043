import { expect, it } from "vitest";
import { createReplyLists } from "./reply-lists.ts";

it("gives what is new with its numbers, newest files first, and again what failed", () => {
  const lists = createReplyLists();
  expect(lists.take()).toEqual({ lists: {}, numbers: {} });
  lists.add("files", ["a", "b"], 1);
  lists.add("statusHistory", ["s"], 2);
  lists.add("files", ["c"], 3);
  expect(lists.take()).toEqual({
    lists: { files: ["c", "a", "b"], statusHistory: ["s"] },
    numbers: { files: [3, 1, 1], statusHistory: [2] },
  });
  expect(lists.take()).toEqual({ lists: {}, numbers: {} });
  lists.add("files", ["d"], 4);
  lists.take();
  lists.failed();
  lists.add("sources", ["x"], 5);
  expect(lists.take()).toEqual({
    lists: { files: ["d"], sources: ["x"] },
    numbers: { files: [4], sources: [5] },
  });
  expect(lists.all()).toEqual({ files: ["d", "c", "a", "b"], statusHistory: ["s"], sources: ["x"] });
});
