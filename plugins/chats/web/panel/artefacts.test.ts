import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../data/types.ts";
import { artefactsOf, fencesOf, toDocument } from "./artefacts.ts";

const reply = (id: string, timestamp: number, content: string, role: ChatMessage["role"] = "assistant") =>
  ({ id, role, content, timestamp, parentId: null, childrenIds: [] }) as ChatMessage;
const html = (text: string) => `Here:\n\n\`\`\`html\n${text}\n\`\`\`\nDone.`;

describe("documents of a chat", () => {
  it("are the closed fences of html and svg, whatever marks them", () => {
    const text =
      "~~~SVG\n<svg/>\n~~~\n```js\n1\n```\n````html title\n```\n<p>\n```\n````\n```html\nnever closed";
    expect(fencesOf(text)).toEqual([
      { language: "svg", source: "<svg/>" },
      { language: "html", source: "```\n<p>\n```" },
    ]);
    expect(fencesOf(`${"`".repeat(50_000)}\n${"~".repeat(50_000)}`)).toEqual([]);
  });

  it("are versions in the order of their replies, the same text once, those of people left out", () => {
    const messages = [
      reply("b", 20, html("<p>two</p>")),
      reply("a", 10, html("<p>one</p>")),
      reply("c", 30, html("<p>one</p>")),
      reply("u", 5, html("<p>mine</p>"), "user"),
      reply("s", 40, "```svg\n<svg/>\n```"),
    ];
    const versions = artefactsOf(messages, "html");
    expect(versions.map(({ messageId, source }) => [messageId, source])).toEqual([
      ["a", "<p>one</p>"],
      ["b", "<p>two</p>"],
    ]);
    expect(toDocument(versions[0]!, "Page")).toMatchObject({ html: "<p>one</p>", title: "Page" });
    expect(toDocument(artefactsOf(messages, "svg")[0]!, "Drawing")).toMatchObject({ svg: "<svg/>" });
  });
});
