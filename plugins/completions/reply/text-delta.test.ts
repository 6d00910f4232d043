import { describe, expect, it } from "vitest";
import type { Chunk } from "#kernel/completion/chunk.ts";
import { TextDeltaReader, TextDeltaWriter } from "./text-delta.ts";

const head = { id: "c1", object: "chat.completion.chunk", created: 1, model: "m" };

function chunkOf(content: string, extra: Record<string, unknown> = {}): Chunk {
  return {
    ...head,
    choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
    ...extra,
  };
}

/** A reader that has seen one chunk, written the way `write` writes. */
function taught(write: (value: unknown) => string = JSON.stringify): TextDeltaReader {
  const reader = new TextDeltaReader();
  reader.learn(write(chunkOf("first")), chunkOf("first"));
  return reader;
}

const texts = [
  "",
  "word",
  'a "quoted" one',
  "back\\slash",
  "line\nend\tand \u0001",
  "äöü 漢字 👍",
  "\u2028",
  "</script>",
];

describe("reading", () => {
  it.each(texts)("gives what parsing gives: %j", (content) => {
    expect(taught().read(JSON.stringify(chunkOf(content)))).toEqual(chunkOf(content));
  });

  it("leaves megabytes to the parser", () => {
    const large = chunkOf("A".repeat(15 * 1024 * 1024));
    const text = JSON.stringify(large);
    expect(taught().read(text)).toBeUndefined();
    expect(() => new TextDeltaReader().learn(text, large)).not.toThrow();
  });

  it("takes the upstream's own spacing and escapes", () => {
    const spaced = (value: unknown) => JSON.stringify(value, null, 1).replaceAll("\n", " ");
    const escaped = spaced(chunkOf("é")).replace("é", "\\u00e9");
    expect(taught(spaced).read(escaped)).toEqual(chunkOf("é"));
  });

  it.each([
    ["another field", JSON.stringify(chunkOf("a", { usage: { prompt_tokens: 1 } }))],
    ["another value", JSON.stringify({ ...chunkOf("a"), id: "c2" })],
    ["a text that closes its string", JSON.stringify(chunkOf("X")).replace("X", 'a","content":"b')],
    ["a broken escape", JSON.stringify(chunkOf("X")).replace("X", "\\x")],
    ["a raw line end", JSON.stringify(chunkOf("X")).replace("X", "\n")],
    ["half a chunk", JSON.stringify(chunkOf("a")).slice(0, 60)],
    ["nothing", ""],
  ])("leaves %s to the parser", (_name, text) => {
    expect(taught().read(text)).toBeUndefined();
  });

  it("learns nothing from chunks that hold more than one text", () => {
    const both = [
      chunkOf("a", { choices: [{ index: 0, delta: { role: "assistant", content: "a" } }] }),
      chunkOf("a", { choices: [{ index: 0, delta: { tool_calls: [] } }] }),
      chunkOf("a", { extra: { nested: true } }),
      chunkOf("a", { choices: [chunkOf("a").choices![0]!, chunkOf("b").choices![0]!] }),
    ];
    for (const chunk of both) {
      const reader = new TextDeltaReader();
      reader.learn(JSON.stringify(chunk), chunk);
      expect(reader.read(JSON.stringify(chunk))).toBeUndefined();
    }
  });

  it("is not misled by a text that looks like the field", () => {
    const chunk = { note: '"content":"', ...chunkOf("a") };
    const reader = new TextDeltaReader();
    reader.learn(JSON.stringify(chunk), chunk);
    const next = { note: '"content":"', ...chunkOf("b") };
    expect(reader.read(JSON.stringify(next)) ?? next).toEqual(next);
  });

  it("gives every chunk objects of its own", () => {
    const reader = taught();
    const first = reader.read(JSON.stringify(chunkOf("a"))) as Chunk;
    first.choices![0]!.delta.content = "changed";
    first["id"] = "changed";
    expect(reader.read(JSON.stringify(chunkOf("b")))).toEqual(chunkOf("b"));
  });
});

describe("writing", () => {
  it.each(texts)("gives what JSON gives: %j", (content) => {
    const writer = new TextDeltaWriter();
    writer.write(chunkOf("first"));
    expect(writer.write(chunkOf(content))).toBe(JSON.stringify(chunkOf(content)));
  });

  it.each([
    ["a changed field", { ...chunkOf("a"), model: "n" }],
    ["a further field", { ...chunkOf("a"), usage: null }],
    ["an object", { ...chunkOf("a"), usage: { prompt_tokens: 1 } }],
    ["a missing field", { object: "chat.completion.chunk", choices: chunkOf("a").choices }],
    ["another index", { ...chunkOf("a"), choices: [{ index: 1, delta: { content: "a" } }] }],
    ["a further delta", { ...chunkOf("a"), choices: [{ index: 0, delta: { content: "a", role: "x" } }] }],
    ["no choice", { ...head, choices: [] }],
    ["no text", { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }],
  ])("shows %s", (_name, chunk) => {
    const writer = new TextDeltaWriter();
    writer.write(chunkOf("first"));
    expect(JSON.parse(writer.write(chunk as Chunk))).toEqual(chunk);
    expect(JSON.parse(writer.write(chunkOf("b")))).toEqual(chunkOf("b"));
  });

  it("stays right when every chunk differs", () => {
    const writer = new TextDeltaWriter();
    for (let n = 0; n < 30; n++) {
      const chunk = chunkOf("a", { obfuscation: `x${n}` });
      expect(writer.write(chunk)).toBe(JSON.stringify(chunk));
    }
  });
});
