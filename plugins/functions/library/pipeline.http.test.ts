import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { addFunction, require, startWithUpstream } from "../functions.fixture.ts";

let app: App;
let admin: TestUser;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ app, admin, close } = await startWithUpstream());
  await addFunction(app, "first", toFilter(-5), { global: true });
  await addFunction(app, "second", toFilter(0, ["inlet", "outlet"]), { global: true });
  await addFunction(app, "third", `export const toggle = true;\n${toFilter(3)}`, { global: true });
  await addFunction(app, "elsewhere", toFilter(1));
});

afterAll(() => close?.());

const call = (route: string, body?: unknown) =>
  app.call(route, { token: admin.token, ...(body === undefined ? {} : { body }) });

function toFilter(priority: number, hooks = ["inlet"]): string {
  const exported = hooks.map(
    (hook) => `export const ${hook} = (body) => { if (body.fail) throw new Error("no"); return body; };`,
  );
  return `export const meta = { priority: ${priority} };\n${exported.join("\n")}`;
}

async function line(query = "") {
  const { body } = await require(call(`GET /api/v1/models/pipeline?id=alpha${query}`));
  return body.filters.map(({ id, priority }: { id: string; priority: number }) => [id, priority]);
}

it("shows what a request to a model passes, in order, and what people switch on", async () => {
  expect((await require(call("GET /api/v1/models/pipeline?id=alpha"))).body).toMatchObject({
    model: { id: "alpha" },
    base: { id: "alpha" },
    filters: [
      { id: "first", priority: -5, hooks: ["inlet"] },
      { id: "second", priority: 0, hooks: ["inlet", "outlet"] },
    ],
  });
  expect(await line("&filter_ids=third&filter_ids=other")).toEqual([
    ["first", -5],
    ["second", 0],
    ["third", 3],
  ]);
  expect((await call("GET /api/v1/models/pipeline?id=none")).status).toBe(404);
});

it("works for the members of a group, whatever the model", async () => {
  const member = await app.user();
  const created = await require(call("POST /api/v1/groups/create", { name: "Some", description: "" }));
  const group: string = created.body.id;
  await require(call(`POST /api/v1/groups/id/${group}/users/add`, { user_ids: [member.id] }));
  await require(call("POST /api/v1/functions/id/elsewhere/groups", { group_ids: [group] }));
  await require(
    call("POST /api/v1/functions/id/elsewhere/update", {
      name: "Elsewhere",
      content: toFilter(1),
      meta: { group_ids: [] },
    }),
  );
  const ask = async (token: string) => {
    const body = { model: "guide", messages: [{ role: "user", content: "x" }], fail: true };
    return (await app.call("POST /api/chat/completions", { token, body })).status;
  };
  for (const id of ["first", "second"]) {
    await require(call(`POST /api/v1/functions/id/${id}/toggle`));
  }
  const { token } = await app.user();
  expect([await ask(member.token), await ask(token)]).toEqual([400, 200]);
  for (const id of ["first", "second"]) {
    await require(call(`POST /api/v1/functions/id/${id}/toggle`));
  }
});

it("an order is kept by as few priorities as it takes, and outlives a change of the valves", async () => {
  await require(call("POST /api/v1/functions/order", { ids: ["second", "first", "third"] }));
  expect(await line("&filter_ids=third")).toEqual([
    ["second", 0],
    ["first", 1],
    ["third", 3],
  ]);
  const refused = await call("POST /api/v1/functions/order", { ids: ["second", "nobody"] });
  expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining("nobody")]);
  const content = `export const valves = { word: { type: "string" } };\n${toFilter(-5)}`;
  await require(call("POST /api/v1/functions/id/first/update", { name: "First", content }));
  await require(call("POST /api/v1/functions/id/first/valves/update", { word: "x" }));
  expect((await line()).map(([id]: [string]) => id)).toEqual(["second", "first"]);
});

it("failures stand in the console, and changes in the record of what administrators do", async () => {
  await call("POST /api/chat/completions", {
    model: "alpha",
    messages: [{ role: "user", content: "x" }],
    fail: true,
  });
  const { body } = await require(call("GET /api/v1/functions/id/second/logs"));
  expect(body.lines).toMatchObject([{ level: "error", text: expect.stringMatching(/^inlet: no \(line 2/) }]);
  const { body: audited } = await require(call("GET /api/v1/audit"));
  const actions = audited.records
    .filter((entry: { object_type: string }) => entry.object_type === "function")
    .map(({ action, object_id }: { action: string; object_id: string }) => `${action} ${object_id}`);
  expect(actions).toContain("function.valves_updated first");
  expect(actions).toContain("function.enabled first");
  expect(actions).toContain("function.created first");
});
