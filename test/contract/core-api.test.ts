import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { surfaces } from "#kernel/http/surfaces.ts";
import { type App, startApp } from "#test/support/app.ts";

// Core API: interactive documentation, versioning.

let dev: App;
let production: App;

beforeAll(async () => {
  dev = await startApp();
  production = await startApp({ env: { ENV: "prod", WEBUI_BUILD_HASH: "4f2a9c1" } });
});

afterAll(async () => {
  await dev?.close();
  await production?.close();
});

const pages = Object.values(surfaces)
  // Every address of the SCIM surface asks for its token.
  .filter(({ docs }) => docs)
  .flatMap(({ base }) => [`${base}/docs`, `${base}/openapi.json`]);

describe("interactive documentation", () => {
  it.each(pages)("%s is there in dev and nowhere else", async (page) => {
    expect((await dev.call(`GET ${page}`)).status).toBe(200);
    const { token } = await production.admin();
    for (const by of [undefined, token]) {
      expect((await production.call(`GET ${page}`, { token: by })).status).toBe(404);
    }
  });

  it("marks what is deprecated", async () => {
    const { paths, components } = (await dev.call("GET /openapi.json")).body;
    expect(paths["/api/chat/completed"].post).toMatchObject({
      deprecated: true,
      description: expect.stringContaining("Deprecated: "),
    });
    expect(paths["/api/chat/completions"].post).not.toHaveProperty("deprecated");
    const { params } = components.schemas.ChatCompletionRequest.properties;
    const given = params.anyOf.find(({ type }: { type: string }) => type === "object");
    expect(given.properties.function_calling.anyOf).toContainEqual(
      expect.objectContaining({ const: "legacy", deprecated: true }),
    );
  });
});

it("the commit of the build is told with the release, and to the web interface", async () => {
  expect((await production.call("GET /api/version")).body).toMatchObject({ build_hash: "4f2a9c1" });
  expect((await production.call("GET /api/config")).body.build_hash).toBe("4f2a9c1");
  expect((await dev.call("GET /api/version")).body).toMatchObject({ build_hash: "dev-build" });
});
