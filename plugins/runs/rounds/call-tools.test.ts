import { pino } from "pino";
import { expect, it } from "vitest";
import { defineTool, type ToolContext } from "#kernel/tools/tool.ts";
import type { CallItem } from "../reply/items.ts";
import { parseArguments, runCalls } from "./call-tools.ts";

it.each([
  ['{"a": 1}', { a: 1 }],
  ["", {}],
  ["  ", {}],
  ["{'a': 'it\\'s', 'b': True, 'c': None}", { a: "it's", b: true, c: null }],
  ['{"a": \'x "y" z\'}', { a: 'x "y" z' }],
  ['{"a": [1, 2,],}', { a: [1, 2] }],
  ['{"a": "True, None"}', { a: "True, None" }],
  ["[1]", undefined],
  ["null", undefined],
  ['"text"', undefined],
  ['{"a": ', undefined],
  ["__import__('os')", undefined],
])("reads %s", (text, expected) => {
  expect(parseArguments(text)).toEqual(expected);
});

/** Two calls that may run side by side: the first ends at once, the second when it is told to. */
function startTwo() {
  const [over, told] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
  const define = (name: string, run: () => Promise<string>) =>
    defineTool({ id: name, spec: { name, description: "", parameters: {} }, isParallel: true, run });
  const call = (name: string): CallItem => ({
    type: "function_call",
    id: name,
    call_id: name,
    name,
    arguments: "{}",
    status: "completed",
  });
  const ended = new AbortController();
  const done: string[] = [];
  const running = runCalls([call("quick"), call("deaf")], {
    tools: [define("quick", async () => "here"), define("deaf", () => over.promise)],
    context: { signal: ended.signal } as ToolContext,
    log: pino({ level: "silent" }),
    changed: () => undefined,
    deliver: async () => ({ pictures: [], files: [], embeds: [], notes: [] }),
    done: ({ call_id: id }) => {
      done.push(id);
      told.resolve();
    },
  });
  return { running, done, first: told.promise, ended, over };
}

it("a result is told as soon as it is there, while its neighbour still runs", async () => {
  const { running, done, first, over } = startTwo();
  await first;
  expect(done).toEqual(["quick"]);
  over.resolve("late");
  await running;
  expect(done).toEqual(["quick", "deaf"]);
});

it("a run ends while a tool hangs that does not listen to its signal", async () => {
  const { running, done, first, ended } = startTwo();
  await first;
  ended.abort(new Error("stopped"));
  await expect(running).rejects.toThrow("stopped");
  expect(done).toEqual(["quick"]);
});
