import { expect, it } from "vitest";
import type { Events } from "#kernel/events.ts";
import { events } from "#kernel/services.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { troubleBegan, type Trouble } from "#kernel/trouble.ts";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { json } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;
let member: TestUser;
let shouldFail = true;
let bus: Events | undefined;
const heard: Trouble[] = [];

const plugin = definePlugin({
  id: "brook",
  title: "Brook",
  uses: { events },
  setup({ use }) {
    bus = use.events;
    use.events.on(troubleBegan, (trouble) => void heard.push(trouble));
    const run = () => (shouldFail ? Promise.reject(new Error("The brook is dry.")) : Promise.resolve());
    return { jobs: [{ id: "brook.sweep", title: "Sweeps the brook", every: 3600, run }] };
  },
});

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    startAppWithUpstream({ connection: {}, plugins: [plugin], env: { OPENAI_API_KEYS: "k" } }),
  ));
  admin = await app.admin();
  member = await app.user();
});

const noticesOf = async (who: TestUser, event: string) =>
  (await who.call("GET /api/v1/notifications/")).body.items.filter(
    (notice: { event: string }) => notice.event === event,
  );
const runJob = () => admin.call("POST /api/v1/operations/jobs/run", { id: "brook.sweep" });

it("administrators hear of a job that began to fail, once until they read it", async () => {
  await runJob();
  await expect
    .poll(() => noticesOf(admin, "job.failed"), { timeout: 10_000 })
    .toEqual([
      expect.objectContaining({
        title: "Sweeps the brook",
        body: "The brook is dry.",
        path: "/admin/jobs",
      }),
    ]);
  expect(await noticesOf(member, "job.failed")).toEqual([]);
  const told = heard.filter(({ kind }) => kind === "job").length;
  shouldFail = false;
  const lastState = async () =>
    (await admin.call("GET /api/v1/operations/jobs")).body.data.find(
      ({ id }: { id: string }) => id === "brook.sweep",
    ).last_state;
  await runJob();
  await expect.poll(lastState, { timeout: 10_000 }).toBe("completed");
  shouldFail = true;
  await runJob();
  await expect
    .poll(() => heard.filter(({ kind }) => kind === "job").length, { timeout: 10_000 })
    .toBe(told + 1);
  await expect.poll(() => noticesOf(admin, "job.failed")).toHaveLength(1);
});

it("administrators hear of a connection that no longer answers", async () => {
  await admin.call("GET /api/models?refresh=true");
  upstream.reply("/models", json({ error: { message: "The key was revoked." } }, { status: 401 }));
  await admin.call("GET /api/models?refresh=true");
  await expect
    .poll(() => noticesOf(admin, "connection.failed"))
    .toEqual([expect.objectContaining({ title: new URL(upstream.url).host, path: "/admin/connections" })]);
});

it("administrators hear of a function that the server switched off", async () => {
  for (const actor of [{ id: member.id, name: "Member", email: "m@x.test", role: "admin" }, null]) {
    bus?.announce("function.disabled", {
      actor,
      subject: { type: "function", id: "endless" },
      data: { id: "endless", name: "Endless", reason: "It ran too long." },
    });
  }
  await expect
    .poll(() => noticesOf(admin, "function.disabled"))
    .toEqual([
      expect.objectContaining({
        title: "Endless",
        body: "It ran too long.",
        path: "/workspace/function/endless",
      }),
    ]);
});
