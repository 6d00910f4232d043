import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatClient, conversation } from "#plugins/chats/chats.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

let app: App;
let admin: TestUser;

beforeAll(async () => {
  app = await startApp({ env: { ENABLE_API_KEYS: "true", ENABLE_CHANNELS: "true" } });
  admin = await app.admin();
});

afterAll(() => app?.close());

const view = (id: string, token = admin.token) => app.call(`POST /api/v1/users/${id}/view`, { token });
const statusOf = async (token: string) => (await app.call("GET /api/v1/auths", { token })).status;
const start = async (id: string, token = admin.token) => (await view(id, token)).body.token as string;
const firstFrame = (socket: WebSocket) =>
  new Promise<CloseEvent | MessageEvent>((resolve) => {
    socket.addEventListener("message", resolve);
    socket.addEventListener("close", resolve);
  });

test("shows what the account sees and may, and says who looks", async () => {
  const ada = await app.user();
  const chat = await chatClient(app, ada.token).make(conversation());
  const ui = {
    directConnections: { OPENAI_API_KEYS: ["sk-mine"] },
    toolServers: [{ key: "k" }],
    theme: "dark",
  };
  await app.call("POST /api/v1/users/user/settings/update", { token: ada.token, body: { ui } });

  const { status, body } = await view(ada.id);
  expect(status).toBe(200);
  expect(body).toMatchObject({ id: ada.id, role: "user", token_type: "Bearer" });
  const { token } = body as { token: string };
  const own = (await app.call("GET /api/v1/auths", { token })).body;
  expect(own).toMatchObject({ id: ada.id, viewer: { id: admin.id } });
  expect((await app.call("GET /api/v1/auths", { token: ada.token })).body).not.toHaveProperty("viewer");
  const chats = (await app.call("GET /api/v1/chats/list", { token })).body as { id: string }[];
  expect(chats.map(({ id }) => id)).toEqual([chat.id]);
  expect((await app.call("GET /api/v1/users", { token })).status).toBe(403);
  const settings = await app.call("GET /api/v1/users/user/settings", { token });
  expect(settings.body.ui).toMatchObject({ theme: "dark" });
  expect(settings.text).not.toMatch(/sk-mine|toolServers/);
});

test("changes nothing, connects nowhere and leaves no trace at the account", async () => {
  const ada = await app.user();
  const before = (await app.call(`GET /api/v1/users/${ada.id}`, { token: admin.token })).body;
  const sessions = (await app.call("GET /api/v1/auths/sessions", { token: ada.token })).body.length;
  const token = await start(ada.id);
  const refused = await app.call("POST /api/v1/notes/create", { token, body: { title: "Forged" } });
  expect(refused.status).toBe(403);
  expect(refused.body.detail).toContain("nothing can be changed");
  expect((await app.call("GET /api/v1/events", { token })).status).toBe(403);
  for (const path of ["/ws", "/api/v1/notes/live"]) {
    const socket = new WebSocket(app.url.replace("http", "ws") + path);
    socket.addEventListener("open", () => socket.send(JSON.stringify({ type: "auth", token })));
    const frame = await firstFrame(socket);
    socket.close();
    expect([path, frame.type === "close" || /forbidden/.test(String((frame as MessageEvent).data))]).toEqual([
      path,
      true,
    ]);
  }
  expect((await app.call("GET /api/v1/auths/sessions", { token: ada.token })).body).toHaveLength(sessions);
  const after = (await app.call(`GET /api/v1/users/${ada.id}`, { token: admin.token })).body;
  expect(after.last_active_at).toBe(before.last_active_at);
  const { records } = (await app.call("GET /api/v1/audit", { token: admin.token })).body as {
    records: { action: string; object_id: string }[];
  };
  expect(records.some(({ action, object_id: id }) => action === "user.viewed" && id === ada.id)).toBe(true);
});

describe("is refused", () => {
  test("to members, to keys, and for administrators' accounts", async () => {
    const [ada, other, second] = [await app.user(), await app.user(), await app.user("admin")];
    const key = (await app.call("POST /api/v1/auths/api_key", { token: second.token })).body
      .api_key as string;
    const tries = [
      await view(ada.id, other.token),
      await view(ada.id, key),
      await view(second.id),
      await view(ada.id, await start(other.id)),
    ];
    expect(tries.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect((await view("nobody")).status).toBe(404);
  });

  test("where the content of others is closed to administrators", async () => {
    const closed = await startApp({ env: { ENABLE_ADMIN_CHAT_ACCESS: "false" } });
    try {
      const { id } = await closed.user();
      const { token } = await closed.admin();
      const { status, body } = await closed.call(`POST /api/v1/users/${id}/view`, { token });
      expect([status, body.detail]).toEqual([403, expect.stringContaining("ENABLE_ADMIN_CHAT_ACCESS")]);
    } finally {
      await closed.close();
    }
  });
});

test("ends with the rights or the sessions of either account", async () => {
  const [ada, second] = [await app.user(), await app.user("admin")];
  const whileRole = await start(ada.id, second.token);
  expect(await statusOf(whileRole)).toBe(200);
  const role = (value: string, id: string) =>
    app.call(`POST /api/v1/users/${id}/update`, { token: admin.token, body: { role: value } });
  await role("user", second.id);
  expect(await statusOf(whileRole)).toBe(401);
  await role("admin", second.id);
  expect(await statusOf(whileRole)).toBe(401);
  const whileViewed = await start(ada.id);
  await role("admin", ada.id);
  expect(await statusOf(whileViewed)).toBe(401);
});

test("a browser goes back to its own session, also when the view has ended by itself", async () => {
  const ada = await app.user();
  const cookiesOf = (headers: Headers) =>
    headers.getSetCookie().map((cookie) => cookie.split(";", 1)[0] as string);
  const post = (path: string, cookies: readonly string[]) =>
    fetch(app.url + path, {
      method: "POST",
      headers: { cookie: cookies.join("; "), "sec-fetch-site": "same-origin", origin: app.url },
    });
  const started = await post(`/api/v1/users/${ada.id}/view`, [`token=${admin.token}`]);
  const cookies = cookiesOf(started.headers);
  expect(cookies).toEqual([expect.stringMatching(/^token=./), `own_session=${admin.token}`]);
  const token = cookies[0]?.slice("token=".length) as string;
  expect(await statusOf(token)).toBe(200);
  const ended = await post("/api/v1/auths/view/end", cookies);
  expect(await ended.json()).toEqual({ status: true });
  expect(cookiesOf(ended.headers)).toEqual([`token=${admin.token}`, "own_session="]);
  expect(await statusOf(token)).toBe(401);
  const { records } = (await app.call("GET /api/v1/audit", { token: admin.token })).body as {
    records: { action: string; object_id: string; actor_id: string }[];
  };
  expect(records[0]).toMatchObject({ action: "user.view_ended", object_id: ada.id, actor_id: admin.id });
  const again = await post("/api/v1/auths/view/end", ["own_session=" + admin.token]);
  expect(cookiesOf(again.headers)[0]).toBe(`token=${admin.token}`);
  const signedOut = await post("/api/v1/auths/signout", cookies);
  expect(cookiesOf(signedOut.headers)).toContain("own_session=");
  // What is no own session is never made one.
  const forged = await post("/api/v1/auths/view/end", [`own_session=${await start(ada.id)}`]);
  expect([await forged.json(), cookiesOf(forged.headers)]).toEqual([{ status: false }, ["own_session="]]);
});

test("a page that was opened for another account, or for no view, changes nothing in the name of this one", async () => {
  const ada = await app.user();
  const viewed = await start(ada.id);
  const rename = async (token: string, shown: string | undefined) => {
    const answer = await fetch(`${app.url}/api/v1/users/user/settings/update`, {
      method: "POST",
      headers: {
        cookie: `token=${token}`,
        origin: app.url,
        "content-type": "application/json",
        ...(shown !== undefined && { "x-account": shown }),
      },
      body: JSON.stringify({ ui: { theme: shown ?? "none" } }),
    });
    return [answer.status, answer.headers.get("x-account")];
  };
  const view = `${ada.id} by ${admin.id}`;
  expect(await rename(admin.token, view)).toEqual([409, "other"]);
  expect(await rename(ada.token, view)).toEqual([409, "other"]);
  expect(await rename(ada.token, admin.id)).toEqual([409, "other"]);
  expect(await rename(viewed, admin.id)).toEqual([409, "other"]);
  expect(await rename(viewed, view)).toEqual([403, null]);
  expect(await rename(ada.token, ada.id)).toEqual([200, null]);
  const { ui } = (await app.call("GET /api/v1/users/user/settings", { token: ada.token })).body;
  expect(ui.theme).toBe(ada.id);
  expect(await rename(ada.token, undefined)).toEqual([200, null]);
});
