import { describe, expect, it } from "vitest";
import { fromTool, fromUser, textPart } from "#test/support/wire-parts.ts";
import { commonTool, result, tool, turns, user } from "../requests.fixture.ts";
import { CallLabels, createLongLabels } from "../call-labels.ts";
import { toTranslated } from "../schema.ts";
import { toCommon } from "./to-common.ts";

const convert = (body: object) =>
  toCommon(toTranslated({ model: "m", max_tokens: 9, ...turns(fromUser("a")), ...body }), {
    support: undefined,
    documents: new Map(),
    labels: new CallLabels(createLongLabels()),
    dropped: (type) => expect.unreachable(type),
  });

const common = (name: string) => ({ ...commonTool, function: { ...commonTool.function, name } });
const later = { ...tool, defer_loading: true };
const found = (name: string) => ({ type: "tool_reference", tool_name: name });
const told = (...content: object[]) => turns({ role: "user", content: "a" }, { role: "system", content });
const add = (what: object) => ({ type: "tool_addition", tool: what });
const named = (name: string) => ({ type: "tool_reference", name });
const defined = (definition: object) => ({ type: "tool_definition", definition });

describe("the tools of a conversation", () => {
  const cases: Record<string, [sent: object, tools: object[] | undefined]> = {
    "without those that are put off": [{ tools: [later, { ...tool, name: "g" }] }, [common("g")]],
    "when all are put off": [{ tools: [later], tool_choice: { type: "auto" } }, undefined],
    "with those that were looked up": [
      { tools: [later, { ...later, name: "g" }], ...user(result("a", [found("g")])) },
      [common("g")],
    ],
    "with those that come midway by name": [{ tools: [later], ...told(add(named("f"))) }, [commonTool]],
    "with those that come midway whole": [
      { tools: [tool], ...told(add(defined({ ...tool, name: "h" }))) },
      [commonTool, common("h")],
    ],
    "without those that go midway": [
      {
        tools: [tool, { ...tool, name: "g" }],
        ...told({ type: "tool_removal", tool: named("f") }, textPart("S")),
      },
      [common("g")],
    ],
    "with those that came back": [
      { tools: [tool], ...told({ type: "tool_removal", tool: named("f") }, add(named("f"))) },
      [commonTool],
    ],
    "as they were declared last": [
      { tools: [tool], ...told(add(defined({ ...tool, strict: true }))) },
      [{ type: "function", function: { ...commonTool.function, strict: true } }],
    ],
  };
  it.each(Object.entries(cases))("%s", (_name, [sent, tools]) => {
    expect(convert(sent).tools).toEqual(tools);
  });

  it("are named to the model when they were looked up", () => {
    const { messages } = convert({ tools: [later], ...user(result("a", [found("f"), found("g")])) });
    expect(messages).toEqual([fromTool("a", "The tool f can be called now.\nThe tool g can be called now.")]);
  });

  it.each([
    ["without a schema", add(defined({ name: "f" })), "tool.definition.input_schema"],
    ["of a server", add({ type: "mcp_toolset_reference", server_name: "x" }), "tool.type"],
  ])("are refused midway %s", (_what, change, place) => {
    expect(() => convert(told(textPart("S"), change))).toThrow(
      expect.objectContaining({
        detail: [
          expect.objectContaining({
            loc: ["body", "messages", 1, "content", 1, ...place.split(".")],
          }),
        ],
      }),
    );
  });
});
