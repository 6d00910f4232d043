import { afterAll, beforeAll, expect, it } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { defineTool } from "#kernel/tools/tool.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";

const define = (name: string, more: object = {}) =>
  defineTool({
    id: `desk.${name}`,
    spec: { name, description: `${name} it`, parameters: {} },
    run: async () => "",
    ...more,
  });
const desk = definePlugin({
  id: "desk",
  title: "Desk",
  permissions: [{ path: "features.desk", default: false }],
  setup: () => ({
    tools: [
      define("stamp", { category: "desk", title: "Stamp a letter", approval: "ask" }),
      define("seal", { category: "desk", feature: "sealing", permission: "features.desk" }),
      define("lend", { isExternal: true }),
    ],
  }),
});

let stage: AppWithUpstream;
beforeAll(async () => {
  stage = await startAppWithUpstream({ models: ["alpha"], plugins: [desk] });
});
afterAll(() => stage?.close());

it("lists built-in tools with category, feature and policy to those who may use them", async () => {
  const admin = await stage.app.admin();
  const member = await stage.app.user();
  const list = async (token?: string) => {
    const { body, status } = await stage.app.call("GET /api/v1/tools/builtin", token ? { token } : {});
    return status === 200 ? body.filter(({ id }: { id: string }) => id.startsWith("desk.")) : status;
  };
  const stamp = {
    id: "desk.stamp",
    name: "stamp",
    title: "Stamp a letter",
    description: "stamp it",
    category: "desk",
    feature: null,
    acts: false,
    approval: "ask",
  };
  expect(await list(member.token)).toEqual([stamp]);
  expect(await list(admin.token)).toEqual([
    stamp,
    expect.objectContaining({ name: "seal", feature: "sealing" }),
  ]);
  expect(await list()).toBe(401);
});
