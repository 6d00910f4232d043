import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type GatewayApp, startGateway } from "./gateway.fixture.ts";

let gateway: GatewayApp;
let key: string;

beforeAll(async () => {
  gateway = await startGateway();
  key = await gateway.key();
});
afterAll(() => gateway?.close());

it("lists the workspaces of the key's owner, and gives a second of one name the suffix -2", async () => {
  const names = ["site", "team/site", "team/site-2", "other/site"];
  for (const folder of names) {
    await gateway.workspace(folder);
  }
  const list = await gateway.gateway("GET /v1/models", key);
  expect(list.status).toBe(200);
  expect(list.body.object).toBe("list");
  expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([
    "gw/site",
    "gw/site-2",
    "gw/site-2-2",
    "gw/site-3",
  ]);
  expect(list.body.data[0]).toMatchObject({ object: "model", owned_by: "millrace", name: "site" });
  expect(await readdir(join(gateway.root, "team"))).toEqual(["site", "site-2"]);
});

it("shows nobody else's workspaces, to the gateway and to other administrators alike", async () => {
  const mine = await gateway.workspace("mine");
  const other = await gateway.app.user("admin");
  const foreign = await other.call("POST /api/v1/gateway/keys", { name: "theirs" });
  expect((await gateway.gateway("GET /v1/models", foreign.body.key)).body.data).toEqual([]);
  for (const route of [
    `GET /api/v1/gateway/workspaces/${mine.id}`,
    `DELETE /api/v1/gateway/workspaces/${mine.id}/delete`,
  ]) {
    expect((await other.call(route)).status).toBe(404);
  }
});

it("refuses folders that lead elsewhere, and those that are taken", async () => {
  await gateway.workspace("taken/inner");
  await mkdir(join(gateway.root, "real"));
  await symlink(join(gateway.root, "real"), join(gateway.root, "link"));
  await symlink("/etc", join(gateway.root, "outside"));
  const make = async (folder: string) =>
    (await gateway.admin("POST /api/v1/gateway/workspaces", { name: "x", folder })).status;
  for (const folder of ["..", "../x", "a/../../x", ".", "", "/", ".hidden", "a\\b", "a\u0000b", "a/.gw"]) {
    expect([folder, await make(folder)]).toEqual([folder, 400]);
  }
  for (const folder of ["link", "link/new", "outside", "outside/new"]) {
    expect([folder, await make(folder)]).toEqual([folder, 400]);
  }
  for (const folder of ["taken", "taken/inner", "taken/inner/deeper", "TAKEN/Inner"]) {
    expect([folder, await make(folder)]).toEqual([folder, 409]);
  }
});

it("answers 401 in the common error shape for every key that is not one", async () => {
  const { token } = await gateway.app.admin();
  for (const wrong of [undefined, "sk-gw-0", `sk-gw-${"0".repeat(64)}`, token, "sk-abc"]) {
    const answer = await gateway.gateway("GET /v1/models", wrong);
    expect([wrong, answer.status]).toEqual([wrong, 401]);
    expect(answer.body.error).toMatchObject({ type: "authentication_error", code: 401 });
  }
  const missing = await gateway.gateway("GET /v1/nothing", key);
  expect([missing.status, missing.body.error.code]).toEqual([404, 404]);
});

it("manages keys in a browser session alone, shows them once and stores them hashed", async () => {
  const made = await gateway.admin("POST /api/v1/gateway/keys", { name: "laptop" });
  expect(made.body.key).toMatch(/^sk-gw-[0-9a-f]{64}$/);
  const list = await gateway.admin("GET /api/v1/gateway/keys");
  const shown = list.body.find(({ id }: { id: string }) => id === made.body.id);
  expect(shown.key).toBe(`sk-gw-…${made.body.key.slice(-4)}`);
  const admin = await gateway.app.admin();
  const plain = await admin.call("POST /api/v1/auths/api_key");
  const bearers = [
    [made.body.key, 403],
    [plain.body.api_key, 403],
  ] as const;
  for (const [bearer, status] of bearers) {
    for (const route of ["GET /api/v1/gateway/keys", `DELETE /api/v1/gateway/keys/${made.body.id}`]) {
      expect((await gateway.app.call(route, { token: bearer })).status).toBe(status);
    }
    const again = await gateway.app.call("POST /api/v1/gateway/keys", { token: bearer, body: { name: "x" } });
    expect(again.status).toBe(status);
  }
  expect((await gateway.gateway("GET /v1/models", made.body.key)).status).toBe(200);
  expect((await gateway.admin(`DELETE /api/v1/gateway/keys/${made.body.id}`)).body).toBe(true);
  expect((await gateway.gateway("GET /v1/models", made.body.key)).status).toBe(401);
});

it("keeps its routes away from the platform's own address, and those of the platform from its", async () => {
  const admin = await gateway.app.admin();
  expect((await admin.call("GET /v1/models")).status).not.toBe(200);
  expect((await gateway.gateway("GET /api/v1/gateway/state", admin.token)).status).toBe(404);
});

it("ends a key with its owner's office", async () => {
  const other = await gateway.app.user("admin");
  const made = await other.call("POST /api/v1/gateway/keys", { name: "x" });
  expect((await gateway.gateway("GET /v1/models", made.body.key)).status).toBe(200);
  const change = { role: "user", name: other.name, email: other.email };
  expect((await gateway.admin(`POST /api/v1/users/${other.id}/update`, change)).status).toBe(200);
  expect((await gateway.gateway("GET /v1/models", made.body.key)).status).toBe(401);
});

it("is switched on and off live", async () => {
  const url = await gateway.url();
  expect((await gateway.admin("POST /api/v1/gateway/config", { enabled: false })).body.enabled).toBe(false);
  await expect.poll(async () => (await gateway.admin("GET /api/v1/gateway/state")).body.url).toBeNull();
  await expect(fetch(`${url}/v1/models`)).rejects.toThrow();
  await gateway.admin("POST /api/v1/gateway/config", { enabled: true });
  await expect.poll(async () => (await gateway.admin("GET /api/v1/gateway/state")).body.url).toBeTruthy();
  expect((await gateway.gateway("GET /v1/models", key)).status).toBe(200);
});
