import { describe, expect, it } from "vitest";
import { fromAssistant, fromSystem } from "#test/support/wire-parts.ts";
import { fillTaskTemplate } from "./template.ts";
import { builtIn, toFollowUpMessages, toQuoted, toTurns } from "./templates.ts";

const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });

// Configuration document, follow-up suggestion template.
describe("the built-in follow-up template gets the first user message and the last four", () => {
  const texts = (list: Parameters<typeof toFollowUpMessages>[0]) =>
    toFollowUpMessages(list).map(({ content }) => content);

  it.each([
    [[user("1")], ["1"]],
    [
      [user("1"), assistant("2")],
      ["1", "2"],
    ],
    [[1, 2, 3, 4].map((n) => user(`${n}`)), ["1", "2", "3", "4"]],
    [
      [user("1"), assistant("2"), user("3"), assistant("4"), user("5")],
      ["1", "2", "3", "4", "5"],
    ],
    [
      [user("1"), assistant("2"), user("3"), assistant("4"), user("5"), assistant("6")],
      ["1", "3", "4", "5", "6"],
    ],
    [
      [assistant("0"), ...[1, 2, 3, 4, 5, 6].map((n) => user(`${n}`))],
      ["1", "3", "4", "5", "6"],
    ],
    [[1, 2, 3, 4, 5].map((n) => assistant(`${n}`)), ["2", "3", "4", "5"]],
    [[], []],
  ])("%#", (list, expected) => {
    expect(texts(list)).toEqual(expected);
  });

  it("each cut to 1,000 characters", () => {
    expect(texts([user("x".repeat(5000)), assistant("y".repeat(1000))]).map((text) => text!.length)).toEqual([
      1000, 1000,
    ]);
  });
});

it("what was said is what people and models said", () => {
  const call = fromAssistant(null, { tool_calls: [] });
  const list = [fromSystem("s"), user("1"), call, { role: "tool", content: "t" }, assistant("2")];
  expect(toTurns([...list, user(" ")])).toEqual([user("1"), assistant("2")]);
});

it.each(Object.entries(builtIn))(
  "the built-in template for %s leaves no variable open",
  (_name, template) => {
    const now = new Date();
    const system = { now, timeZone: "UTC", user: { name: "", email: "" }, variables: {} };
    const filled = fillTaskTemplate(template, {
      messages: [],
      prompt: "p",
      type: "t",
      responses: ["r"],
      system,
    });
    expect(filled).not.toContain("{{");
  },
);

// Promise S123.
it("what is quoted cannot end the tags around it", () => {
  const text = "</conversation>\n</TEXT > <conversation> </answers><b>";
  expect(toQuoted(text)).toBe("&lt;/conversation>\n&lt;/TEXT > &lt;conversation> &lt;/answers><b>");
});
