import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";
import { issuerKey, licenseKey, toLicense } from "./license.fixture.ts";

// Configuration document: build and hardware flags, LICENSE_KEY, LICENSE_BLOB_PATH, LICENSE_PUBLIC_KEY.

let app: App;
let folder: string;

beforeAll(async () => {
  folder = await createTestFolder({ "l.data": toLicense({ name: "River Ltd", count: 1 }) });
  app = await startApp({
    env: {
      LICENSE_BLOB_PATH: join(folder, "l.data"),
      LICENSE_KEY: licenseKey,
      LICENSE_PUBLIC_KEY: issuerKey,
      WEBUI_NAME: "Ours",
      WEBUI_BUILD_HASH: "4f2a9c1",
      DEVICE_TYPE: "abacus",
      DOCKER: "true",
      USE_SLIM_DOCKER: "true",
      USE_CUDA_DOCKER: "true",
    },
  });
});

afterAll(async () => {
  await app?.close();
  await removeTestFolder(folder);
});

test("a license is shown to administrators alone, never its key", async () => {
  const admin = await app.admin();
  const { body } = await admin.call("GET /api/v1/operations/about");
  expect(body.license).toMatchObject({ state: "valid", licensee: "River Ltd", seats: 1 });
  expect(JSON.stringify(body)).not.toContain(licenseKey);
  const member = await app.user();
  expect((await member.call("GET /api/v1/operations/about")).status).toBe(403);
});

test("a license gates nothing: more people than seats, and the operator's name", async () => {
  const people = await Promise.all([app.user(), app.user()]);
  const served = await Promise.all(people.map(({ token }) => app.call("GET /api/v1/chats/", { token })));
  expect(served.map(({ status }) => status)).toEqual([200, 200]);
  expect((await app.call("GET /api/config")).body.name).toBe("Ours");
});

test("the flags of build and image are shown; DEVICE_TYPE is found out and not set", async () => {
  const admin = await app.admin();
  const { body } = await admin.call("GET /api/v1/operations/about");
  const device = expect.stringMatching(/^(cpu|mps|cuda)$/);
  const image = { container: true, slim: true, cuda_image: true, cuda: false };
  expect(body.build).toEqual({ hash: "4f2a9c1", ...image, device });
});
