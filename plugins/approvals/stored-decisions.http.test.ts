import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { done, facts } from "./guarded.fixture.ts";
import { type ApprovalStage, startApprovalStage } from "./stage.fixture.ts";

let stage: ApprovalStage;

beforeAll(async () => {
  stage = await startApprovalStage();
});
afterAll(() => stage?.close());
beforeEach(async () => {
  await stage.user.call("DELETE /api/v1/users/user/approvals");
});

describe("a decision for good", () => {
  const decisions = async () => (await stage.user.call("GET /api/v1/users/user/approvals")).body;

  it("is not asked for again, until it is forgotten or the tool has changed", async () => {
    let asked = 0;
    const messages: string[] = [];
    const { promise: isAskedTwice, resolve: goOn } = Promise.withResolvers<void>();
    const client = await stage.answering(async ({ data }) => {
      asked += 1;
      messages.push(data.data.message);
      if (asked === 2) {
        goOn();
      }
      // The answer to one would be the answer to the other that is not asked yet.
      await isAskedTwice;
      return { decision: "allow", always: true };
    });
    const session = { session_id: await client.sessionId() };
    const twice = [
      { name: "send", id: "a" },
      { name: "send", id: "b" },
    ];
    // Both calls of the round are asked about at once, and the answer to one is about the other, too.
    const run = await stage.ask(twice, session);
    expect(await run.told()).toEqual(["send: done", "send: done"]);
    expect(asked).toBe(2);
    const reply = await run.ended();
    expect(reply.output[1] ?? {}).toMatchObject({ approval: { status: "allowed", always: true } });
    const [kept, ...more] = await decisions();
    expect(kept).toMatchObject({ tool_id: "guarded.send", name: "send", decision: "allow" });
    expect(more).toEqual([]);
    facts.description = "Sends a letter, and a copy to somebody else";
    const changed = await stage.ask([{ name: "send" }], session);
    const [call] = (await changed.ended()).output;
    expect(asked).toBe(3);
    expect(call.approval).toMatchObject({
      status: "allowed",
      changed: { before: "Sends a letter", now: facts.description },
    });
    expect(messages.map((message) => message.split("\n")[0])).toEqual([
      "{}",
      "{}",
      "This tool has changed since you decided about it.",
    ]);
    const user = await stage.app.user();
    expect((await user.call("GET /api/v1/users/user/approvals")).body).toEqual([]);
    const route = `DELETE /api/v1/users/user/approvals/${kept.id}`;
    expect((await user.call(route)).status).toBe(404);
    expect((await stage.user.call(route)).body).toBe(true);
    expect(await decisions()).toEqual([]);
    await (await stage.ask([{ name: "send" }], session)).ended();
    expect(asked).toBe(4);
  });

  it("counts for the revision that a tool tells, whatever its description says today", async () => {
    facts.revision = "1";
    let asked = 0;
    const client = await stage.answering(() => {
      asked += 1;
      return { decision: "allow", always: true };
    });
    const session = { session_id: await client.sessionId() };
    const send = async () => {
      const run = await stage.ask([{ name: "send" }], session);
      await run.ended();
      return asked;
    };
    expect(await send()).toBe(1);
    facts.description = "Sends a letter from the folder of now";
    expect(await send()).toBe(1);
    facts.revision = "2";
    expect(await send()).toBe(2);
    facts.revision = "1";
    expect(await send()).toBe(3);
    delete facts.revision;
  });

  it("may be no, and comes from the chat as well", async () => {
    const client = await stage.connect();
    const run = await stage.ask([{ name: "send" }]);
    await run.waits(client);
    await run.answer({ decision: "deny", always: true });
    await run.ended();
    expect(await decisions()).toMatchObject([{ name: "send", decision: "deny" }]);
    const later = await stage.ask([{ name: "send" }]);
    expect(await later.told()).toEqual([expect.stringContaining("did not allow")]);
    await later.ended();
    expect(done).toEqual([]);
  });
});
