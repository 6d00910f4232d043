import { execFileSync, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";

// Configuration document: switches whose effect no other suite sees from outside.

let plain: App;
let changed: App;

beforeAll(async () => {
  [plain, changed] = await Promise.all([
    startApp(),
    startApp({
      env: {
        BYPASS_RETRIEVAL_ACCESS_CONTROL: "true",
        ENABLE_AUTOMATIONS: "false",
        ENABLE_CALENDAR: "false",
        ENABLE_RETRIEVAL_UNSCOPED_COLLECTIONS: "true",
        ENABLE_SIGNUP_PASSWORD_CONFIRMATION: "true",
      },
    }),
  ]);
}, 120_000);

afterAll(async () => {
  await plain?.close();
  await changed?.close();
});

it.each([
  ["ENABLE_CALENDAR", "GET /api/v1/calendars/"],
  ["ENABLE_AUTOMATIONS", "GET /api/v1/automations/list"],
])("%s=false closes its routes to administrators too", async (_, route) => {
  const statuses = await Promise.all(
    [plain, changed].map(async (app) => (await (await app.admin()).call(route)).status),
  );
  expect(statuses).toEqual([200, 403]);
});

it("ENABLE_SIGNUP_PASSWORD_CONFIRMATION is told to the sign-up form", async () => {
  const told = await Promise.all(
    [plain, changed].map(
      async (app) => (await app.call("GET /api/config")).body.features.enable_signup_password_confirmation,
    ),
  );
  expect(told).toEqual([false, true]);
});

describe("collections that a member names", () => {
  const ask = async (app: App, name: string) => {
    const member = await app.user();
    const body = { collection_names: [name], query: "mill" };
    return (await member.call("POST /api/v1/retrieval/query/collection", body)).status;
  };

  it("are refused when nobody knows them, unless ENABLE_RETRIEVAL_UNSCOPED_COLLECTIONS is on", async () => {
    expect([await ask(plain, "nobody-knows"), await ask(changed, "Nobody_Knows")]).toEqual([404, 200]);
  });

  it("are refused when they are somebody else's, unless BYPASS_RETRIEVAL_ACCESS_CONTROL is on", async () => {
    const statuses = [];
    for (const app of [plain, changed]) {
      const admin = await app.admin();
      const body = { name: "Mine", description: "" };
      const { body: made } = await admin.call("POST /api/v1/knowledge/create", body);
      statuses.push(await ask(app, made.id));
    }
    expect(statuses).toEqual([404, 200]);
  });
});

describe.skipIf(spawnSync("openssl", ["version"]).status !== 0)(
  "upstreams with a certificate of their own",
  () => {
    let folder: string;
    let server: Server;
    let url: string;
    let fingerprint: string;

    beforeAll(async () => {
      folder = await createTestFolder({});
      const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
      const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
      const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
      execFileSync("openssl", ["req", "-x509", ...kind, ...names, ...files], { stdio: "ignore" });
      const cert = readFileSync(join(folder, "cert.pem"));
      fingerprint = new X509Certificate(cert).fingerprint256;
      server = createServer({ key: readFileSync(join(folder, "key.pem")), cert }, (_request, response) => {
        response.setHeader("content-type", "application/json").end('{"data":[{"id":"alpha"}]}');
      });
      server.on("tlsClientError", () => {});
      server.listen(0);
      await once(server, "listening");
      url = `https://localhost:${(server.address() as AddressInfo).port}`;
    });

    afterAll(async () => {
      server?.closeAllConnections();
      server?.close();
      await removeTestFolder(folder);
    });

    const verify = async (app: App) =>
      (await (await app.admin()).call("POST /compat/verify", { url, key: "key" })).status;

    it("are refused as they are", async () => {
      expect(await verify(plain)).not.toBe(200);
    });

    it.each<[string, (certFile: string) => Record<string, string>, boolean]>([
      [
        "AIOHTTP_CLIENT_SSL_CERT_FILE names their authority",
        (file) => ({ AIOHTTP_CLIENT_SSL_CERT_FILE: file }),
        true,
      ],
      ["AIOHTTP_CLIENT_SESSION_SSL is off", () => ({ AIOHTTP_CLIENT_SESSION_SSL: "false" }), true],
      [
        "SSL_ASSERT_FINGERPRINT is another's",
        (file) => ({
          AIOHTTP_CLIENT_SSL_CERT_FILE: file,
          SSL_ASSERT_FINGERPRINT: fingerprint.replaceAll(/[0-9A-F]/g, "0"),
        }),
        false,
      ],
    ])(
      "%s",
      async (_, toEnv, isTaken) => {
        const app = await startApp({ env: toEnv(join(folder, "cert.pem")) });
        try {
          expect((await verify(app)) === 200).toBe(isTaken);
        } finally {
          await app.close();
        }
      },
      60_000,
    );
  },
);
