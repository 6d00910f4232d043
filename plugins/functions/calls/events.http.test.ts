import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { addFunction, removeFunction, require } from "../functions.fixture.ts";

let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await startApp({ env: { INSTANCE_ID: "here" } });
  admin = await app.admin();
});

afterAll(() => app.close());

const listener = `export function event(event, ctx) {
  const { host, ...facts } = ctx;
  console.log(JSON.stringify({ event, facts }));
}`;

// What was logged is of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
async function heard(id: string): Promise<any[]> {
  const { body } = await require(admin.call(`GET /api/v1/functions/id/${id}/logs`));
  return body.lines.map(({ text }: { text: string }) => JSON.parse(text));
}

const namesHeard = async (id: string) => (await heard(id)).map(({ event }) => event.event);

describe("an event function", () => {
  it("hears of every system event of its process, in the envelope of event webhooks", async () => {
    await addFunction(app, "listener", listener);
    const person = await app.user();
    await expect.poll(() => namesHeard("listener")).toContain("user.created");
    const all = await heard("listener");
    const { event, facts } = all.find(
      (each) => each.event.event === "user.created" && each.event.subject.id === person.id,
    );
    expect(event).toEqual({
      schema: "event.v1",
      id: expect.any(String),
      event: "user.created",
      resource: "user",
      operation: "created",
      created_at: expect.any(Number),
      instance_id: "here",
      version: expect.any(String),
      source: "Millrace",
      actor: expect.objectContaining({ id: admin.id }),
      subject: { type: "user", id: person.id },
      data: expect.any(Object),
      message: expect.stringContaining("user.created"),
    });
    expect(facts).toMatchObject({
      event_name: "user.created",
      event_id: event.id,
      app: { name: "Millrace", instance_id: "here" },
      user: { id: admin.id, role: "admin" },
      userValves: {},
      id: "listener",
    });
    expect(JSON.stringify(all)).not.toContain("Correct-horse-1");
    await removeFunction(app, "listener");
  });

  it("hears of its own switching on and off, before and after", async () => {
    await addFunction(app, "witness", listener);
    const toggle = () => admin.call("POST /api/v1/functions/id/witness/toggle");
    await expect.poll(() => namesHeard("witness")).toEqual(["function.enable_started", "function.enabled"]);
    await require(toggle());
    await expect.poll(() => namesHeard("witness")).toContain("function.disable_started");
    await removeFunction(app, "witness");
  });

  it("hears what happens to other functions, and its failures hurt nobody", async () => {
    await addFunction(app, "gossip", listener);
    await addFunction(app, "grumpy", `export function event() { throw new Error("no"); }`);
    const spec = `export const valves = { a: { type: "integer", default: 1 } }; export function inlet(b) { return b; }`;
    await addFunction(app, "subject", spec);
    const token = admin.token;
    const name = "Subject";
    await require(
      app.call("POST /api/v1/functions/id/subject/update", { token, body: { name, content: spec } }),
    );
    await require(app.call("POST /api/v1/functions/id/subject/valves/update", { token, body: { a: 2 } }));
    await removeFunction(app, "subject");
    await expect
      .poll(async () =>
        (await heard("gossip"))
          .filter(({ event }) => event.subject?.id === "subject")
          .map(({ event }) => event.operation),
      )
      .toEqual(["created", "enable_started", "enabled", "updated", "valves_updated", "deleted"]);
    await removeFunction(app, "gossip");
    await removeFunction(app, "grumpy");
  });
});
