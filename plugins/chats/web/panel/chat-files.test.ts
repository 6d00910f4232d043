import { expect, test } from "vitest";
import type { ChatMessage } from "../data/types.ts";
import { chatFiles } from "./chat-files.ts";

const message = (change: Partial<ChatMessage>): ChatMessage =>
  ({
    id: "m",
    role: "user",
    content: "",
    timestamp: 1,
    parentId: null,
    childrenIds: [],
    ...change,
  }) as ChatMessage;

test("files of a chat are those that people attached and those that replies brought, each once", () => {
  const files = chatFiles([
    message({
      id: "r",
      role: "assistant",
      timestamp: 2,
      content: "![A cat](/api/v1/files/f3/content) and [the table](/api/v1/files/f4/content), /api/v1/files/",
      files: [{ type: "image", id: "", name: "", url: "/api/v1/files/f5/content" }],
    }),
    message({
      id: "q",
      content: "see /api/v1/files/f9/content",
      files: [
        { type: "file", id: "f1", name: "notes.txt" },
        { type: "image", id: "f2", name: "boat.png" },
        { type: "collection", id: "k1", name: "Manuals" },
      ],
    }),
    message({ id: "q2", timestamp: 3, files: [{ type: "file", id: "f1", name: "notes.txt" }] }),
  ]);
  expect(files.map(({ id, messageId, origin }) => [id, messageId, origin])).toEqual([
    ["f1", "q", "attached"],
    ["f2", "q", "attached"],
    [undefined, "q", "attached"],
    ["f5", "r", "generated"],
    ["f3", "r", "generated"],
    ["f4", "r", "generated"],
  ]);
  expect(files.find(({ id }) => id === "f3")?.picture).toBe("/api/v1/files/f3/content");
  expect(files.find(({ id }) => id === "f4")?.picture).toBeUndefined();
});
