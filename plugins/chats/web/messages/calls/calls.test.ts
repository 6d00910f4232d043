import { describe, expect, it } from "vitest";
import type { OutputItem } from "../../data/types.ts";
import { toParts } from "../reply-parts.ts";
import { shapeOf } from "./answer-shape.ts";
import { attemptOf, readCall, spanOf } from "./call-facts.ts";

const call = (id: string, more: object = {}): OutputItem => ({
  type: "function_call",
  id,
  call_id: id,
  name: "read_gauge",
  arguments: '{"river":"Lumme"}',
  ...more,
});
const result = (id: string, text: string, more: object = {}): OutputItem => ({
  type: "function_call_output",
  id: `fco_${id}`,
  call_id: id,
  output: [{ type: "input_text", text }],
  ...more,
});

describe("a call", () => {
  it("has a name in words, its server and how it stands", () => {
    const tool = { id: "server:gauges", title: "Read the gauge", server: "River board" };
    const facts = readCall(
      call("a", { tool, started_at: 5 }),
      result("a", "1.4 m", { duration_ms: 1200 }),
      false,
    );
    expect(facts).toMatchObject({
      title: "Read the gauge",
      server: "River board",
      toolId: "server:gauges",
      state: "done",
      answer: "1.4 m",
      durationMs: 1200,
    });
    expect(readCall(call("a"), undefined, true)).toMatchObject({ title: "Read gauge", state: "running" });
    expect(readCall(call("a"), undefined, false).state).toBe("unrun");
    expect(readCall(call("a", { approval: { status: "pending" } }), undefined, true).state).toBe("waiting");
    expect(readCall(call("a", { question: {} }), undefined, true).state).toBe("asking");
    expect(
      readCall(call("a", { approval: { status: "denied" } }), result("a", "Error: no"), false).state,
    ).toBe("refused");
    expect(readCall(call("a"), result("a", "fine", { is_error: true }), false).state).toBe("failed");
    expect(readCall(call("a"), result("a", "Errors: 0"), false).state).toBe("done");
  });

  it("tells progress, and what was cut", () => {
    const { step } = readCall(
      call("a", { progress: { progress: 3, total: 12, message: "Page 3" } }),
      undefined,
      true,
    );
    expect(step).toEqual({ share: 0.25, progress: 3, total: 12, message: "Page 3" });
    expect(readCall(call("a", { progress: { progress: 3 } }), undefined, true).step?.share).toBeUndefined();
    const cut = readCall(call("a"), result("a", "many\n[output truncated]"), false);
    expect([cut.answer, cut.isTruncated]).toEqual(["many", true]);
  });

  it("counts how often it was made", () => {
    const output = [call("a"), result("a", "Error: away"), call("b", { name: "other" }), call("c")];
    expect(
      output.filter(({ type }) => type === "function_call").map((one) => attemptOf(one, output)),
    ).toEqual([1, 1, 2]);
  });

  it("counts time side by side once", () => {
    const at = (started_at: number, duration_ms: number) =>
      readCall(call("a", { started_at }), result("a", "", { duration_ms }), false);
    expect(spanOf([at(0, 100), at(10, 200), at(1000, 50)])).toBe(260);
    expect(spanOf([readCall(call("a"), undefined, true)])).toBeUndefined();
  });
});

it("calls of one round stand together, and many in a row do", () => {
  const groups = (output: OutputItem[]) =>
    toParts({ id: "m", content: "", output }).map((part) =>
      part.kind === "calls" ? part.calls.length : part.kind,
    );
  const said: OutputItem = { type: "message", id: "t", content: [{ type: "output_text", text: "Hm." }] };
  const pair = (id: string) => [call(id), result(id, "x")];
  expect(groups([...pair("a"), ...pair("b"), said])).toEqual([1, 1, "text"]);
  expect(groups([call("a"), call("b"), result("a", "x"), result("b", "x"), ...pair("c")])).toEqual([2, 1]);
  expect(groups(["a", "b", "c", "d"].flatMap(pair))).toEqual([4]);
  expect(groups([...pair("a"), said, ...pair("b")])).toEqual([1, "text", 1]);
});

it.each([
  ['[{"a":1,"b":null},{"a":2}]', "table"],
  ['{"items":[{"a":1},{"a":2}]}', "table"],
  ['{"items":[{"a":1},{"a":2}],"more":true}', "json"],
  ['[{"a":{"b":1}},{"a":2}]', "json"],
  ['{"a":1', "text"],
  ["12", "text"],
  ["# Found\nwell", "markdown"],
  ["See [the page](https://example.org/x).", "markdown"],
  ["- one\n- two", "text"],
])("%j is shown as %s", (text, kind) => {
  expect(shapeOf(text).kind).toBe(kind);
});
