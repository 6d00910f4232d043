import { expect, it } from "vitest";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;
let member: TestUser;

const controls = [
  {
    id: "tone",
    label: "Tone",
    default: "plain",
    options: [
      { id: "plain", label: "Plain", params: { temperature: 0.1 } },
      { id: "warm", label: "Warm", params: { temperature: 0.9, top_p: 0.5 }, system: "Greet {{USER_NAME}}." },
    ],
  },
];

setUp(async (keep) => {
  ({ app, upstream } = await keep(
    useAppWithUpstream({
      models: ["ada"],
      env: {
        DEFAULT_MODEL_PARAMS: JSON.stringify({
          temperature: 0.5,
          system: "You are Ada.",
          model_controls: controls,
        }),
      },
    }),
  ));
  upstream.always("/chat/completions", text("ok"));
  admin = await app.admin();
  member = await app.user();
});

async function complete(token: string, option: string | undefined, more: object = {}) {
  const params = option === undefined ? {} : { model_controls: { ada: { tone: option } } };
  const before = upstream.requests.length;
  const answer = await app.call("POST /api/chat/completions", {
    token,
    body: { model: "ada", messages: [{ role: "user", content: "Hi" }], params, ...more },
  });
  const sent = upstream.requests.slice(before).find(({ path }) => path.endsWith("/chat/completions"))?.body;
  return { ...answer, sent };
}

const plain = { temperature: 0.1, messages: [{ role: "system", content: "You are Ada." }, { role: "user" }] };

it("default options apply, and go upstream as parameters only", async () => {
  const { sent } = await complete(member.token, undefined);
  expect(sent).toMatchObject(plain);
  expect(Object.keys(sent).toSorted()).toEqual(["messages", "model", "temperature"]);
});

it("a pick brings its parameters and its part of the system prompt; the caller's own parameters win", async () => {
  const { sent } = await complete(member.token, "warm");
  expect(sent).toMatchObject({ temperature: 0.9, top_p: 0.5 });
  expect(sent.messages[0].content).toBe(`You are Ada.\n\nGreet ${member.name}.`);
  expect((await complete(member.token, "warm", { temperature: 0.3 })).sent).toMatchObject({
    temperature: 0.3,
    top_p: 0.5,
  });
});

it("a pick of an option that is gone is refused before the model is asked", async () => {
  const { status, body, sent } = await complete(member.token, "gone");
  expect([status, body.detail, sent]).toEqual([
    400,
    'The control "Tone" (tone) has no option "gone" any more.',
    undefined,
  ]);
});

it.each(["controls", "params"])(
  "without the permission chat.%s picks are ignored, but not an admin's",
  async (key) => {
    const route = "POST /api/v1/users/default/permissions";
    const tree = (await admin.call(route.replace("POST", "GET"))).body;
    const less = { ...tree, chat: { ...tree.chat, [key]: false } };
    expect((await admin.call(route, less)).status).toBe(200);
    expect((await complete(member.token, "warm")).sent).toMatchObject(plain);
    expect((await complete(member.token, "gone")).status).toBe(200);
    expect((await complete(admin.token, "warm")).sent).toMatchObject({ temperature: 0.9 });
    await admin.call(route, tree);
    expect((await complete(member.token, "warm")).sent).toMatchObject({ temperature: 0.9 });
  },
);
