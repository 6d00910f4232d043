import { expect, test } from "vitest";
import { toBranch, toTurn } from "./sample-bodies.ts";

const messages = {
  q1: { id: "q1", parentId: null, role: "user", content: "One?" },
  a1: { id: "a1", parentId: "q1", role: "assistant", content: "One.", model: "alpha" },
  other: { id: "other", parentId: "q1", role: "assistant", content: "Another.", model: "beta" },
  q2: { id: "q2", parentId: "a1", role: "user", content: "Two?" },
  a2: {
    id: "a2",
    parentId: "q2",
    role: "assistant",
    content: "Two, with more words than one piece has.",
    model: "alpha",
  },
};
const branch = toBranch(messages, "a2");

test("a turn is the branch that is shown, without its siblings", () => {
  expect(branch.map(({ id }) => id)).toEqual(["q1", "a1", "q2", "a2"]);
});

test("a request ends with the question, a conversation with the reply", () => {
  expect(toTurn("inlet", branch, "c")).toEqual({
    model: "alpha",
    stream: true,
    messages: [
      { role: "user", content: "One?" },
      { role: "assistant", content: "One." },
      { role: "user", content: "Two?" },
    ],
  });
  expect(toTurn("outlet", branch, "c")).toMatchObject({
    model: "alpha",
    chat_id: "c",
    id: "a2",
    messages: [{ id: "q1" }, { id: "a1" }, { id: "q2" }, { id: "a2" }],
  });
});

test("a reply comes in chunks that give its text again, and an end", () => {
  const chunks = toTurn("stream", branch, "c") as {
    choices: [{ delta: { content?: string }; finish_reason: string | null }];
  }[];
  expect(chunks.map(({ choices: [{ delta }] }) => delta.content ?? "").join("")).toBe(messages.a2.content);
  expect(chunks.at(-1)?.choices[0].finish_reason).toBe("stop");
});
