import { expect, it } from "vitest";
import type { Principal } from "#kernel/access/principal.ts";
import { createToolRegistry } from "./registry.ts";
import { defineTool, type Tool, type ToolSource } from "./tool.ts";

const define = (id: string, name: string) =>
  defineTool({
    id,
    approval: "auto",
    spec: { name, description: "", parameters: {} },
    run: async () => id,
  });

const select = async (...entries: ReturnType<typeof define>[]) => {
  const owned = entries.map((entry) => ({ entry, isEnabled: () => true }));
  const registry = createToolRegistry(owned, () => []);
  return await registry.select({ principal: { role: "admin" } as Principal, toolIds: [] });
};

it("a tool of a taken name never stands in for the first, and every name is one that providers take", async () => {
  const tools = await select(
    define("time", "now"),
    define("server:mcp:clock", "now"),
    define("server_mcp_clock", "now"),
    define(`server:${"x".repeat(90)}`, "now"),
    define(`server:${"x".repeat(90)}`, "now"),
  );
  const names = tools.map(({ spec }) => spec.name);
  expect(names.slice(0, 3)).toEqual(["now", "server_mcp_clock_now", "server_mcp_clock_now_2"]);
  expect(new Set(names).size).toBe(5);
  expect(names.every((name) => /^[\w-]{1,64}$/.test(name))).toBe(true);
  expect(await tools[0]?.run({}, {} as never)).toBe("time");
});

it("a long name is cut the same way every time, and stays apart from others that begin like it", async () => {
  const long = `get_${"very_".repeat(20)}`;
  const tools = await select(
    define("a", `${long}long`),
    define("b", `${long}short`),
    define("c", "öffne.Tür"),
  );
  const names = tools.map(({ spec }) => spec.name);
  expect(names).toEqual([
    expect.stringMatching(/^get_very_[\w]{46}_[0-9a-f]{8}$/),
    expect.stringMatching(/^get_very_[\w]{46}_[0-9a-f]{8}$/),
    "_ffne_T_r",
  ]);
  expect(names[0]).not.toBe(names[1]);
  const [alone] = await select(define("b", `${long}short`));
  expect(alone?.spec.name).toBe(names[1]);
});

it("what people bring never takes the name of a built-in tool, whichever plugin comes first", async () => {
  const source = (tool: Tool): ToolSource => ({
    id: tool.id,
    granted: async () => [],
    select: async () => [tool],
  });
  const external = (id: string) => ({ ...define(id, "now"), isExternal: true });
  const entries = [source(external("server:clock")), source(external("own")), source(define("time", "now"))];
  const owned = entries.map((entry) => ({ entry, isEnabled: () => true }));
  const registry = createToolRegistry(owned, () => []);
  const tools = await registry.select({ principal: { role: "admin" } as Principal, toolIds: [] });
  expect(tools.map(({ id, spec }) => [id, spec.name])).toEqual([
    ["time", "now"],
    ["own", "own_now"],
    ["server:clock", "server_clock_now"],
  ]);
});
