import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestUser } from "#test/support/app.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { openStage, says, type Stage } from "./examples.fixture.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await openStage(["alpha"]);
  stage.upstream.always("/chat/completions", text("ok"));
  await stage.install("rate_limit", { valves: { requests: 2, seconds: 60 } });
});

afterAll(() => stage.close());

const valves = (body: object) => stage.post("/api/v1/functions/id/rate_limit/valves/update", body);

async function sendRequest(user: TestUser, stream = false) {
  const { status, body } = await stage.ask({ messages: [says("user", "Hi")], stream }, user);
  return status === 200 ? "ok" : `${status} ${body.detail}`;
}

it("refuses the third request of a user, says when to come back, and lets others through", async () => {
  const [ana, ben] = [await stage.app.user(), await stage.app.user()];
  expect([await sendRequest(ana), await sendRequest(ana, true)]).toEqual(["ok", "ok"]);
  for (const stream of [true, false]) {
    expect(await sendRequest(ana, stream)).toMatch(
      /^400 You may send 2 requests in 60 seconds\. Try again in (59|60) seconds, at \d\d:\d\d:\d\d UTC\.$/,
    );
  }
  expect(await sendRequest(ben)).toBe("ok");
});

it("lets a window pass, and counts no refused request", async () => {
  await valves({ requests: 2, seconds: 2 });
  const user = await stage.app.user();
  expect(await sendRequest(user)).toBe("ok");
  await wait(1200);
  expect([await sendRequest(user), (await sendRequest(user)).slice(0, 3)]).toEqual(["ok", "400"]);
  // The first has left the window by now, the second has not: exactly one place is free.
  await wait(1000);
  expect([await sendRequest(user), (await sendRequest(user)).slice(0, 3)]).toEqual(["ok", "400"]);
  await valves({ requests: 2, seconds: 60 });
});

it("gives the last place to one of many at the same moment", async () => {
  const user = await stage.app.user();
  const answers = await Promise.all(Array.from({ length: 8 }, () => sendRequest(user)));
  expect(answers.filter((answer) => answer === "ok")).toHaveLength(2);
});

it("exempts administrators, unless the valve says otherwise", async () => {
  for (let n = 0; n < 4; n += 1) {
    expect(await sendRequest(stage.admin)).toBe("ok");
  }
  await valves({ requests: 1, seconds: 7200, exemptAdmins: false });
  expect(await sendRequest(stage.admin)).toBe("ok");
  expect(await sendRequest(stage.admin)).toMatch(/1 request in 120 minutes\. Try again in 120 minutes/);
  await valves({ requests: 2, seconds: 60 });
});

it("remembers over a change of its code", async () => {
  const user = await stage.app.user();
  expect([await sendRequest(user), await sendRequest(user)]).toEqual(["ok", "ok"]);
  const record = await stage.admin.call("GET /api/v1/functions/id/rate_limit");
  const content = `${record.body.content}\n`;
  await stage.post("/api/v1/functions/id/rate_limit/update", { name: "Rate limit", content });
  expect((await sendRequest(user)).slice(0, 3)).toBe("400");
});
