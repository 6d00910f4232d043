import { jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { caller, openProvider, type Setup } from "../testing.ts";

let upstream: Upstream;
let opened: ReturnType<typeof openProvider>[] = [];

beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  await Promise.all(opened.map((each) => each.close()));
  opened = [];
  await upstream.close();
});

function open(setup: Partial<Setup> = {}) {
  const made = openProvider({ urls: [upstream.url], keys: ["sk-secret-123456"], ...setup });
  opened.push(made);
  return made;
}

/** The journal line of the last chat completion. */
const sent = () => upstream.requests.findLast((request) => request.path.includes("/chat/completions"))!;

const model = "mock-model";

describe("headers", () => {
  beforeEach(() => upstream.always("/chat/completions", text("Hello")));

  it("fills templates; values cannot start lines of their own and unknown tokens stay", async () => {
    const headers = {
      "X-Chat": "{{CHAT_ID}}/{{MESSAGE_ID}}",
      "X-User": "{{USER_NAME}} {{USER_GROUP_IDS}} {{USER_GROUPS}}",
      "X-Odd": "{{OPENID_ACCESS_TOKEN}} ${HOME}",
      "Content-Length": "3",
    };
    const made = open({
      configs: { 0: { auth_type: "none", headers: { ...headers, "Content-Length": "3" } } },
    });
    expect(await made.provider.models({ refresh: true })).toEqual([]);
    delete (headers as Record<string, string>)["Content-Length"];
    const sane = open({ configs: { 0: { auth_type: "none", headers } } });
    await sane.ask({ model }, { chatId: "c1\r\nX-Evil: 1", messageId: "m1" });
    expect(sent().headers).toMatchObject({
      "x-chat": "c1 X-Evil: 1/m1",
      "x-user": "Zo%C3%AB %E4%B8%96%E7%95%8C g1,g2 Group g1,Group g2",
      "x-odd": "{{OPENID_ACCESS_TOKEN}} ${HOME}",
    });
    expect(sent().headers["x-evil"]).toBeUndefined();
    expect(sent().headers["authorization"]).toBeUndefined();
  });

  it("leaves templates empty where nobody asks, but for unknown tokens", async () => {
    const headers = { "X-Chat": "chat {{CHAT_ID}}", "X-User": "{{USER_NAME}} {{USER_GROUPS}} {{OTHER}}" };
    await open({ configs: { 0: { headers } } }).provider.models({ refresh: true });
    const list = upstream.requests.findLast(({ path }) => path.includes("/models"))!;
    expect(list.headers).toMatchObject({ "x-chat": "chat", "x-user": "{{OTHER}}" });
  });

  it("tells who asks only when that is switched on", async () => {
    await open().ask({ model }, { chatId: "c1" });
    expect(Object.keys(sent().headers).filter((name) => name.startsWith("x-service"))).toEqual([]);
    await open({ config: { forwardUserInfo: true, chatIdHeader: "X-My-Chat" } }).ask(
      { model },
      { chatId: "c1", messageId: "m1" },
    );
    expect(sent().headers).toMatchObject({
      "x-service-user-name": encodeURIComponent(caller.name),
      "x-service-user-id": "u1",
      "x-service-user-email": "zoe@example.test",
      "x-service-user-role": "user",
      "x-my-chat": "c1",
      "x-service-message-id": "m1",
    });
  });

  it("signs who asks when there is a secret", async () => {
    await open({ config: { forwardUserInfo: true, userJwtSecret: "0123456789abcdef0123456789abcdef" } }).ask({
      model,
    });
    const token = sent().headers["x-service-user-jwt"] as string;
    const { payload } = await jwtVerify(token, new TextEncoder().encode("0123456789abcdef0123456789abcdef"));
    expect(payload).toMatchObject({
      sub: "u1",
      email: caller.email,
      name: caller.name,
      role: "user",
      iss: "millrace",
    });
    expect(payload.exp! - payload.iat!).toBe(300);
    expect(sent().headers["x-service-user-email"]).toBeUndefined();
  });
});
