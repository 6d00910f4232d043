import { describe, expect, it } from "vitest";
import { messageText, shownBranch } from "./exported.ts";
import { readImport, toPieces } from "./read-import.ts";
import { toFileName, toMarkdown, toPlainText } from "./write-text.ts";

const words = { you: "You", assistant: "Assistant", system: "System" };
const tree = {
  history: {
    currentId: "a2",
    messages: {
      u1: { id: "u1", parentId: null, role: "user", content: "Where is the moon?" },
      a1: { id: "a1", parentId: "u1", role: "assistant", content: "Up.", modelName: "Guide" },
      a2: {
        id: "a2",
        parentId: "u1",
        role: "assistant",
        modelName: "Guide",
        output: [
          { type: "reasoning", content: [{ text: "hm" }] },
          { type: "message", content: [{ text: "Above **you**." }] },
        ],
      },
    },
  },
};

describe("texts of chats", () => {
  it("follow the shown branch and leave thoughts out", () => {
    expect(shownBranch(tree).map(({ id }) => id)).toEqual(["u1", "a2"]);
    expect(toMarkdown({ title: "Moon\n# x", chat: tree }, words)).toBe(
      "# Moon # x\n\n## You\n\nWhere is the moon?\n\n## Guide\n\nAbove **you**.\n",
    );
    expect(toPlainText({ title: "Moon", chat: tree }, words)).toBe(
      "Moon\n====\n\nYou:\nWhere is the moon?\n\nGuide:\nAbove **you**.\n",
    );
  });

  it("end where a broken file leads in a circle", () => {
    const messages = { a: { id: "a", parentId: "b" }, b: { id: "b", parentId: "a" } };
    expect(shownBranch({ history: { currentId: "a", messages } })).toHaveLength(2);
  });

  it("read blocks of text", () => {
    expect(messageText({ content: [{ type: "text", text: "one" }, { type: "image_url" }, null] })).toBe(
      "one",
    );
  });

  it("get file names that every system takes", () => {
    expect(toFileName("../a:b\u202E?<x>", "md")).toBe("a b x.md");
    expect(toFileName("…/\u0000", "json")).toBe("….json");
    expect(toFileName(" . ", "txt")).toBe("chat.txt");
    expect(toFileName("😀".repeat(200), "txt")).toBe(`${"😀".repeat(80)}.txt`);
  });
});

const node = (id: string, parent: string | null, message?: object) => ({ id, parent, children: [], message });
const said = (role: string, text: string, more: object = {}) => ({
  author: { role },
  content: { content_type: "text", parts: [text] },
  ...more,
});
const conversation = {
  title: "Trip",
  create_time: 1_700_000_000.5,
  update_time: 1_700_000_100.5,
  current_node: "n6",
  mapping: {
    root: node("root", null),
    n1: node("n1", "root", said("system", "hidden")),
    n2: node("n2", "n1", said("user", "Where to?")),
    n3: node("n3", "n2", { author: { role: "assistant" }, content: { content_type: "thoughts" } }),
    n4: node("n4", "n3", said("assistant", "search()", { recipient: "browser" })),
    n5: node("n5", "n4", said("assistant", "Rome", { metadata: { model_slug: "m-5" } })),
    n6: node("n6", "n2", said("assistant", "Oslo", { metadata: { model_slug: "m-5" } })),
  },
};

describe("files of imports", () => {
  it("may be a conversations.json, whose branches stay and whose tool calls go", () => {
    const entries = [conversation, { title: "Silence", mapping: {} }, 7];
    const { chats, unread } = readImport(JSON.stringify(entries));
    expect(unread).toEqual([
      { position: 2, title: "Silence", reason: "nothing said" },
      { position: 3, title: "", reason: "no chat" },
    ]);
    expect(chats[0]).toMatchObject({
      title: "Trip",
      created_at: 1_700_000_000,
      updated_at: 1_700_000_100,
      chat: { models: ["m-5"], history: { currentId: "n6" } },
    });
    const messages = chats[0]?.chat.history?.messages ?? {};
    expect(Object.keys(messages)).toEqual(["n2", "n5", "n6"]);
    expect(messages["n2"]?.childrenIds).toEqual(["n5", "n6"]);
    expect(messages["n5"]).toMatchObject({ parentId: "n2", content: "Rome", model: "m-5", done: true });
  });

  it("may be threads of people and replies, whose texts stay in their order", () => {
    const thread = {
      uuid: "t1",
      name: "Knots",
      created_at: "2026-01-02T03:04:05.678Z",
      updated_at: "2026-01-02T03:05:00Z",
      chat_messages: [
        { uuid: "m1", sender: "human", text: "Which knot?", created_at: "2026-01-02T03:04:05Z" },
        {
          uuid: "m2",
          sender: "assistant",
          text: "",
          content: [
            { type: "thinking", thinking: "hm" },
            { type: "text", text: "A bowline." },
          ],
        },
        { uuid: "m3", sender: "human", text: "" },
        { uuid: "m4", sender: "human", text: "Thanks" },
      ],
    };
    const { chats, unread } = readImport(JSON.stringify([thread, { name: "Bare", chat_messages: [] }]));
    expect(unread).toEqual([{ position: 2, title: "Bare", reason: "nothing said" }]);
    const [chat] = chats;
    expect(chat).toMatchObject({ title: "Knots", created_at: 1_767_323_045, updated_at: 1_767_323_100 });
    const messages = chat?.chat.history?.messages ?? {};
    expect(chat?.chat.history?.currentId).toBe("m4");
    expect(messages["m2"]).toMatchObject({
      parentId: "m1",
      role: "assistant",
      content: "A bowline.",
      done: true,
    });
    expect(messages["m4"]).toMatchObject({ parentId: "m2", role: "user", content: "Thanks" });
    expect(messages["m2"]?.childrenIds).toEqual(["m4"]);
  });

  it("may be a list, an object with a list, one chat, or the chat alone", () => {
    const record = { id: "1", title: "Moon", chat: tree, pinned: true };
    for (const file of [[record], { chats: [record] }, record]) {
      expect(readImport(JSON.stringify(file)).chats).toEqual([record]);
    }
    expect(readImport(JSON.stringify([{ title: "Old", messages: [] }])).chats[0]).toMatchObject({
      title: "Old",
    });
    expect(readImport("[{}, null]")).toMatchObject({
      chats: [],
      unread: [{ reason: "no chat" }, { reason: "no chat" }],
    });
    expect(() => readImport("no json")).toThrow();
  });

  it("are sent in pieces", () => {
    const small = Array.from({ length: 110 }, () => ({ chat: {} }));
    expect(toPieces(small).map((piece) => piece.length)).toEqual([50, 50, 10]);
    const large = { chat: { title: "x".repeat(3_000_000) } };
    expect(toPieces([large, large]).map((piece) => piece.length)).toEqual([1, 1]);
  });
});
