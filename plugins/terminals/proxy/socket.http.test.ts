// Takes long: a shell gets ten seconds for its first frame from another process.
import { describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { startTerminalServer, type TerminalServer } from "#test/support/terminal/server.ts";
import { Client, connect, entryOf, everyone, makeSession } from "../terminals.fixture.ts";

let app: App;
let server: TerminalServer;
let ann: TestUser;
let bob: TestUser;

setUp(async (keep) => {
  server = await keep(startTerminalServer());
  app = await keep(useApp());
  [ann, bob] = [await app.user(), await app.user()];
  await connect(app, entryOf(server, { config: everyone }));
});

describe("a shell", () => {
  it("echoes, takes sizes, and ends with its exit", async () => {
    const shell = await Client.open(app, await makeSession(app, ann), ann.token);
    shell.type("tty; stty size\n");
    await expect.poll(() => shell.text).toMatch(/\/dev\/pts\/\d+\r\n24 80\r\n/);
    shell.send({ type: "resize", cols: 132, rows: 43 });
    shell.type("stty size; printf 'sch\\303\\266n\\n'\n");
    await expect.poll(() => shell.text).toMatch(/43 132\r\nschön\r\n/);
    shell.type("exit\n");
    expect((await shell.closed).code).toBe(1000);
    await expect.poll(() => server.shells()).toBe(0);
  });

  it("gives megabytes of output without a loss", async () => {
    const shell = await Client.open(app, await makeSession(app, ann), ann.token);
    shell.type("stty -echo; echo; seq 1 400000; echo end-$((1+1))\n");
    await expect.poll(() => shell.text.includes("end-2"), { timeout: 10_000 }).toBe(true);
    const numbers = shell.text.match(/^\d+\r?$/gm) ?? [];
    expect([numbers.length, Number(numbers.at(-1))]).toEqual([400_000, 400_000]);
    shell.socket.close();
    await expect.poll(() => server.shells()).toBe(0);
  });

  it("gets the connection's key and who asks, and nothing of the caller's", async () => {
    const session = await makeSession(app, ann);
    const client = new Client(app, `/api/v1/terminals/box/api/terminals/${session}`, {
      headers: { "x-user-id": "forged", "x-session-id": "forged", "x-service-identity": "forged" },
    });
    await client.opened();
    client.send({ type: "auth", token: ann.token });
    await expect.poll(() => server.seen.at(-1)?.method).toBe("UPGRADE");
    const { headers } = server.seen.at(-1)!;
    expect(headers).toMatchObject({ "x-user-id": ann.id, authorization: `Bearer ${server.key}` });
    expect(headers["x-session-id"]).toBeUndefined();
    expect(JSON.stringify(headers)).not.toMatch(new RegExp(`forged|${ann.token}`));
    client.socket.close();
  });
});

describe("a connection is refused", () => {
  const refused = async (path: string, frame?: object) => {
    const client = new Client(app, path);
    await client.opened();
    if (frame) {
      client.send(frame);
    }
    return await client.closed;
  };

  it("without a good first frame: 4001, and nothing is contacted", async () => {
    const path = `/api/v1/terminals/box/api/terminals/${await makeSession(app, ann)}`;
    const before = server.seen.length;
    for (const frame of [
      { type: "auth", token: "wrong" },
      { type: "auth" },
      { type: "resize", token: ann.token },
    ]) {
      expect((await refused(path, frame)).code).toBe(4001);
    }
    expect(server.seen).toHaveLength(before);
  });

  it("without a first frame within ten seconds", { timeout: 15_000 }, async () => {
    const started = performance.now();
    const { code, at } = await refused(`/api/v1/terminals/box/api/terminals/${await makeSession(app, ann)}`);
    expect(code).toBe(4001);
    expect(at - started).toBeGreaterThan(9_500);
    expect(at - started).toBeLessThan(11_000);
  });

  it("to the session of somebody else, to unknown ones, and to an unknown terminal", async () => {
    const session = await makeSession(app, ann);
    const before = server.seen.length;
    const frame = { type: "auth", token: bob.token };
    const at = "/api/v1/terminals/box/api/terminals";
    expect((await refused(`${at}/${session}`, frame)).code).toBe(4004);
    expect((await refused(`${at}/unknown`, frame)).code).toBe(4004);
    expect((await refused(`/api/v1/terminals/other/api/terminals/${session}`, frame)).code).toBe(4003);
    expect(server.seen).toHaveLength(before);
  });

  it("with the cookie of a page of another site, which is good on a page of this one", async () => {
    const path = `/api/v1/terminals/box/api/terminals/${await makeSession(app, ann)}`;
    const cookie = `token=${ann.token}`;
    const foreign = new Client(app, path, { headers: { cookie, origin: "https://evil.test" } });
    await foreign.opened();
    foreign.send({ type: "auth" });
    expect((await foreign.closed).code).toBe(4001);
    const own = new Client(app, path, { headers: { cookie, origin: app.url } });
    await own.opened();
    own.send({ type: "auth" });
    own.type("echo in-$((1+1))\n");
    await expect.poll(() => own.text).toContain("in-2");
    own.socket.close();
  });

  it("at addresses that lead elsewhere", async () => {
    for (const path of ["%2e%2e", "a%2Fb", "a/b", "..%5c"]) {
      const client = new Client(app, `/api/v1/terminals/box/api/terminals/${path}`);
      await expect(client.opened()).rejects.toThrow(/Unexpected server response: 4\d\d/);
    }
  });
});

describe("an open connection ends within two seconds", () => {
  it("when the account is deactivated", async () => {
    const carl = await app.user();
    const shell = await Client.open(app, await makeSession(app, carl), carl.token);
    shell.type("echo in-$((1+1))\n");
    await expect.poll(() => shell.text).toContain("in-2");
    const started = performance.now();
    const admin = await app.admin();
    const body = { name: carl.name, email: carl.email, role: "pending", profile_image_url: "" };
    expect((await admin.call(`POST /api/v1/users/${carl.id}/update`, body)).status).toBe(200);
    const { code, at } = await shell.closed;
    expect([4001, 4003]).toContain(code);
    expect(at - started).toBeLessThan(2_000);
  });

  it("when access to the terminal is withdrawn, and opens again when it comes back", async () => {
    const shell = await Client.open(app, await makeSession(app, ann), ann.token);
    shell.type("echo in-$((1+1))\n");
    await expect.poll(() => shell.text).toContain("in-2");
    const started = performance.now();
    await connect(app, entryOf(server));
    const { code, at } = await shell.closed;
    expect(code).toBe(4003);
    expect(at - started).toBeLessThan(2_000);
    expect((await ann.call("GET /api/v1/terminals/")).body).toEqual([]);
    await connect(app, entryOf(server, { config: everyone }));
    expect((await ann.call("GET /api/v1/terminals/")).body).toEqual([{ id: "box", name: "Box" }]);
  });
});
