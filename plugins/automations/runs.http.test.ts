import { afterAll, beforeAll, expect, it } from "vitest";
import { credentialOf } from "#kernel/access/credentials.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { defineTool } from "#kernel/tools/tool.ts";
import { requireOk, weather } from "#plugins/workspace-tools/tools.fixture.ts";
import type { TestUser } from "#test/support/app.ts";
import { holdClock, passTime } from "#test/support/clock/held-clock.ts";
import { secondsUntil } from "#test/support/clock/now.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { paced } from "#test/support/upstream-paced.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import { type AutomationStage, startAutomationStage } from "./automations.fixture.ts";

const day = 86_400;
const lifetime = 3;
const acted: { principal: Principal; at: number }[] = [];
const witness = definePlugin({
  id: "witness",
  title: "Witness",
  setup: () => ({
    tools: [
      defineTool({
        id: "witness.look",
        spec: { name: "look", description: "Looks", parameters: { type: "object", properties: {} } },
        run: async (_given, { principal }) => {
          acted.push({ principal, at: Date.now() / 1_000 });
          return "seen";
        },
      }),
    ],
  }),
});

holdClock();
let stage: AutomationStage;
let { owner, admin, upstream, call, make, remove, runsOf, rows, endedRuns } = {} as AutomationStage;

beforeAll(async () => {
  stage = await startAutomationStage({ AUTOMATION_AUTH_TOKEN_EXPIRES_IN: `${lifetime}s` }, [witness]);
  ({ owner, admin, upstream, call, make, remove, runsOf, rows, endedRuns } = stage);
});
afterAll(() => stage?.close());

const now = () => Math.floor(Date.now() / 1_000);
const rowOf = async (id: string) => (await rows(`select * from automation where id = '${id}'`))[0];
/** Looks for what is due come every second. */
const pastLook = () => passTime(1_100);
const makeDue = async (id: string, at = 1) => {
  await rows(`update automation set next_run_at = ${at} where id = '${id}'`);
  await pastLook();
};
const asked = () => upstream.requests.filter(({ path }) => path.endsWith("/chat/completions"));

const saying = (words: string) => (request: UpstreamRequest) => {
  const { stream, messages } = request.body ?? {};
  return stream === true && JSON.stringify(messages).includes(words);
};

async function makeModel(id: string, meta: object): Promise<void> {
  const body = { id, base_model_id: "alpha", name: id, params: {}, meta };
  await requireOk(admin.call("POST /api/v1/models/create", body));
}

it("switches on what the model switches on by default", async () => {
  await makeModel("beta", { defaultFeatureIds: ["web_search"] });
  const made = await make({ model_id: "beta" });
  await call(`POST /${made.id}/run`);
  const [{ chat_id: id }] = await runsOf(made.id);
  const { history } = (await owner.call(`GET /api/v1/chats/${id}`)).body.chat;
  expect(history.messages[history.currentId].statusHistory).toMatchObject([{ feature: "web_search" }]);
  await remove(made.id);
});

it("offers the tools of the model that its owner may use", async () => {
  const body = {
    id: "weather",
    name: "Weather",
    content: weather,
    access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }],
  };
  await requireOk(admin.call("POST /api/v1/tools/create", body));
  await makeModel("gamma", { toolIds: ["weather"] });
  const made = await make({ model_id: "gamma", prompt: "What is the weather?" });
  await call(`POST /${made.id}/run`);
  expect(await runsOf(made.id)).toMatchObject([{ status: "success" }]);
  const { tools } = asked().find(saying("What is the weather?"))!.body;
  expect(tools.map(({ function: { name } }: { function: { name: string } }) => name)).toContain("weather");
  await remove(made.id);
});

it("acts as its owner with a right for one run, which nobody can show elsewhere", async () => {
  const ends = [sse(toolCallChunks([{ id: "c1", name: "look", arguments: "{}" }])), sse(textChunks("Seen."))];
  const made = await make();
  for (const turn of [1, 2]) {
    ends.forEach((script) => upstream.reply(({ body }) => body?.stream === true, script));
    await call(`POST /${made.id}/run`);
    await expect.poll(() => acted.length).toBe(turn);
    await expect.poll(async () => (await runsOf(made.id)).length).toBe(turn);
  }
  const runs = await runsOf(made.id);
  expect(acted.map(({ principal }) => principal.session?.id).toSorted()).toEqual(
    runs.map(({ id }) => `automation:${id}`).toSorted(),
  );
  for (const { principal, at } of acted) {
    expect([principal.userId, principal.automationId]).toEqual([owner.id, made.id]);
    expect(principal.session!.expiresAt! - at).toBeLessThanOrEqual(lifetime + 1);
    expect(principal.session!.expiresAt! - at).toBeGreaterThan(0);
    // No token exists that a tool server or a function could take away and use.
    expect(credentialOf(principal)).toBeUndefined();
  }
  await remove(made.id);
});

it("stops a run whose right has expired, and lets go of the upstream", async () => {
  upstream.reply(saying("Slow news"), paced(["slow ", "news"], { every: 60_000 }));
  const made = await make({ prompt: "Slow news" });
  const request = upstream.nextRequest(saying("Slow news"));
  await call(`POST /${made.id}/run`);
  const { aborted } = await request;
  await passTime((lifetime + 1) * 1_000);
  const [run] = await runsOf(made.id);
  expect(run).toMatchObject({
    status: "error",
    error: expect.stringContaining("AUTOMATION_AUTH_TOKEN_EXPIRES_IN"),
  });
  await aborted;
  await remove(made.id);
});

it("ends with the chat that somebody deletes under it", async () => {
  upstream.reply(saying("Doomed news"), paced(["slow ", "news"], { every: 60_000 }));
  const made = await make({ prompt: "Doomed news" });
  const request = upstream.nextRequest(saying("Doomed news"));
  await call(`POST /${made.id}/run`);
  await request;
  const [claim] = await rows(`select id from automation_claim where automation_id = '${made.id}'`);
  await requireOk(owner.call(`DELETE /api/v1/chats/${String(claim?.["id"])}`));
  expect(await runsOf(made.id)).toHaveLength(1);
  await remove(made.id);
});

it("runs a time that was missed for three days once, and then at the next one", async () => {
  const made = await make();
  await makeDue(made.id, now() - 3 * day);
  expect(await runsOf(made.id)).toHaveLength(1);
  // Looks come every second: a storm would show by now.
  await passTime(2_500);
  expect(await runsOf(made.id)).toHaveLength(1);
  expect((await call(`GET /${made.id}`)).body.next_run_at).toBe(made.next_run_at);
  await remove(made.id);
});

it("runs no time twice when the clock is set back a day, and none is left out", async () => {
  const made = await make();
  const [today, tomorrow, later] = made.next_runs as [number, number, number];
  // As it stands after the clock was right until tomorrow: today's and tomorrow's have run, the next is the day after.
  const ran = (slot: number) =>
    `insert into automation_run values ('${made.id}${slot}', '${made.id}', ${slot}, null, 'success', null, ${slot})`;
  await rows(ran(today));
  await rows(ran(tomorrow));
  const set = `next_run_at = ${later}, last_run_at = ${tomorrow}`;
  await rows(`update automation set ${set} where id = '${made.id}'`);
  await pastLook();
  await expect
    .poll(async () => secondsUntil(Number((await rowOf(made.id))?.["last_run_at"])))
    .toBeLessThan(60);
  expect(Number((await rowOf(made.id))?.["next_run_at"])).toBe(later);
  // A clock that was wrong by days left out times that come now.
  await rows(`delete from automation_run where automation_id = '${made.id}' and slot = ${today}`);
  await rows(`update automation set ${set} where id = '${made.id}'`);
  await pastLook();
  await expect.poll(async () => Number((await rowOf(made.id))?.["next_run_at"])).toBe(today);
  await remove(made.id);
});

const losses: [string, (person: TestUser) => Promise<unknown>][] = [
  [
    "has lost the right",
    async (person) => {
      const groups = (await admin.call("GET /api/v1/groups/")).body;
      const { id } = groups.find(({ name }: { name: string }) => name.includes(person.id));
      await requireOk(admin.call(`DELETE /api/v1/groups/id/${id}/delete`));
    },
  ],
  [
    "was suspended",
    ({ id, name, email }) =>
      requireOk(
        admin.call(`POST /api/v1/users/${id}/update`, {
          name,
          email,
          role: "pending",
          profile_image_url: "",
        }),
      ),
  ],
];
it.each(losses)("makes no call when its owner %s, and is paused", async (_what, lose) => {
  const person = await stage.addOwner();
  const made = await make({}, person);
  await lose(person);
  const before = asked().length;
  await makeDue(made.id);
  expect(await endedRuns(made.id)).toMatchObject([{ status: "error", chat_id: null }]);
  await expect.poll(() => rowOf(made.id)).toMatchObject({ is_active: false });
  expect(asked()).toHaveLength(before);
});

it("goes with its owner's account", async () => {
  const person = await stage.addOwner();
  const made = await make({}, person);
  await requireOk(admin.call(`DELETE /api/v1/users/${person.id}`));
  const before = asked().length;
  await makeDue(made.id);
  await expect.poll(() => rowOf(made.id)).toBeUndefined();
  expect(asked()).toHaveLength(before);
});
