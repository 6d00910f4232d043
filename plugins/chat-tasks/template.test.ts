import { describe, expect, it } from "vitest";
import { fromAssistant, fromUser, textPart } from "#test/support/wire-parts.ts";
import { fillTaskTemplate, type TaskFacts, toText } from "./template.ts";

const messages = [
  fromUser("one"),
  fromAssistant("second"),
  fromUser([textPart("third"), { type: "image_url", image_url: { url: "data:," } }]),
  fromAssistant(null),
  fromUser("fifth"),
];
const system = {
  now: new Date("2026-03-04T05:06:07Z"),
  timeZone: "UTC",
  user: { name: "Ada", email: "ada@example.test" },
  variables: { "{{USER_LANGUAGE}}": "fr", "{{prompt}}": "not this" },
};
const facts: TaskFacts = { messages, prompt: "0123456789", type: "general", responses: ["a", "b"], system };
const all = ["USER: one", "ASSISTANT: second", "USER: third", "ASSISTANT: ", "USER: fifth"];

describe("a task template is filled", () => {
  it.each([
    ["{{prompt}}", "0123456789"],
    ["{{ prompt }}", "0123456789"],
    ["{{prompt:start:3}}", "012"],
    ["{{prompt:end:3}}", "789"],
    ["{{prompt:middletruncate:4}}", "01...89"],
    ["{{prompt:middletruncate:5}}", "012...89"],
    ["{{prompt:middletruncate:10}}", "0123456789"],
    ["{{prompt:start:99}}", "0123456789"],
    ["{{prompt:end:0}}", ""],
    ["{{MESSAGES}}", all.join("\n")],
    ["{{MESSAGES:START:2}}", all.slice(0, 2).join("\n")],
    ["{{MESSAGES:END:2}}", all.slice(3).join("\n")],
    ["{{MESSAGES:END:0}}", ""],
    ["{{MESSAGES:END:9}}", all.join("\n")],
    ["{{MESSAGES:MIDDLETRUNCATE:3}}", [all[0], all[1], all[4]].join("\n")],
    ["{{MESSAGES:MIDDLETRUNCATE:2}}", [all[0], all[4]].join("\n")],
    ["{{MESSAGES|start:2}}", "USER: on\nASSISTANT: se\nUSER: th\nASSISTANT: \nUSER: fi"],
    ["{{MESSAGES:START:2|end:2}}", "USER: ne\nASSISTANT: nd"],
    ["{{MESSAGES:START:2|middletruncate:4}}", "USER: one\nASSISTANT: se...nd"],
    ["{{TYPE}}", "general"],
    ["{{responses}}", '"""a"""\n\n"""b"""'],
    ["{{CURRENT_DATE}} {{USER_NAME}} {{USER_LANGUAGE}}", "2026-03-04 Ada fr"],
    ["{{USER_BIO}}", "Unknown"],
    [
      "{{MESSAGES:FIRST:2}} {{prompt:start}} {{unknown}} {{}} {x}",
      "{{MESSAGES:FIRST:2}} {{prompt:start}} {{unknown}} {{}} {x}",
    ],
  ])("%s", (template, expected) => {
    expect(fillTaskTemplate(template, facts)).toBe(expected);
  });

  it("once: what a message says is not read for variables, nor for patterns of replacing", () => {
    const said = [fromUser("{{USER_NAME}} {{prompt}} $& $1 $`")];
    expect(fillTaskTemplate("<{{MESSAGES}}>", { ...facts, messages: said })).toBe(
      "<USER: {{USER_NAME}} {{prompt}} $& $1 $`>",
    );
  });

  it("without facts of the person where there are none", () => {
    expect(fillTaskTemplate("{{TYPE}}|{{responses}}|{{USER_NAME}}", { messages: [], prompt: "" })).toBe(
      "||{{USER_NAME}}",
    );
  });

  it("and never with half a character", () => {
    const emoji = { ...facts, prompt: "😀😀😀" };
    for (const part of ["start", "end", "middletruncate"]) {
      for (let size = 0; size < 8; size += 1) {
        const filled = fillTaskTemplate(`{{prompt:${part}:${size}}}`, emoji);
        expect(filled.isWellFormed()).toBe(true);
        expect(filled.replace("...", "").length).toBeLessThanOrEqual(size);
      }
    }
  });
});

it.each([
  [undefined, ""],
  [null, ""],
  ["words", "words"],
  [[textPart("a"), { type: "file" }, textPart("b")], "a\nb"],
])("the words of %j are %j", (content, expected) => {
  expect(toText({ content })).toBe(expected);
});
