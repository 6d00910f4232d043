import { expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { addFunction, require, startWithUpstream } from "../functions.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream, admin } = await keep(startWithUpstream()));
  const mark = (name: string) => `let seen = [];
    const last = (body) => body.messages.at(-1);
    export function inlet(body) { return { ...body, x_${name}: seen }; }
    export function outlet(body) {
      seen = [...seen, last(body).content];
      return { ...body, messages: [...body.messages.slice(0, -1), { ...last(body), content: last(body).content + "${name}" }] };
    }`;
  await addFunction(app, "a", mark("a"), { global: true });
  await addFunction(app, "b", mark("b"), { global: true });
});

/** Asks for one answer over HTTP; resolves with what the inlets told of earlier ones. */
async function ask(content: string) {
  upstream.reply("/chat/completions", text(content));
  const sent = upstream.nextRequest(({ body: sent }) => sent?.messages !== undefined);
  const body = { model: "alpha", messages: [{ role: "user", content: "Hi" }] };
  const answer = await require(admin.call("POST /api/chat/completions", body));
  expect(answer.body.choices[0].message.content).toBe(content);
  return (await sent).body;
}

it("outlet filters see each other's changes where nobody sees the last one's", async () => {
  await ask("One");
  await expect.poll(() => ask("Two")).toMatchObject({ x_a: ["One"], x_b: ["Onea"] });
});

it("who has a client open is told what the last one made", async () => {
  const client = await connectPlain(app.url, { token: admin.token });
  await client.sessionId();
  await ask("Three");
  const { data } = await client.event(
    (_, { data }) => data?.type === "chat:outlet" && data.data.messages.at(-1).content.startsWith("Three"),
  );
  expect(data.data.messages.map((message: { content: string }) => message.content)).toEqual([
    "Hi",
    "Threeab",
  ]);
  client.close();
});
