import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { definePlugin } from "#kernel/plugin.ts";
import type { Api } from "#plugins/catalogue.ts";
import { type App, startApp } from "#test/support/app.ts";
import { ApiError, type ApiOf, type Client, createClient } from "./client.ts";
import { defineRoute, reply, stream } from "#kernel/http/route.ts";

const Note = z.object({ title: z.string(), tags: z.array(z.string()).default([]) });

function noteRoutes() {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/sacks/:id/pages/:page",
        summary: "Write",
        access: "user",
        body: Note,
        query: z.object({ notify: z.union([z.string(), z.array(z.string())]).optional() }),
        params: z.object({ id: z.string(), page: z.string() }),
      },
      ({ params, query, body }) => ({
        ...params,
        notify: query.notify,
        ...body,
        at: 1_763_731_200_123_456_789n,
      }),
    ),
    defineRoute({ method: "GET", path: "/sacks", summary: "List", access: "user" }, () => [{ title: "a" }]),
    defineRoute({ method: "DELETE", path: "/sacks", summary: "Clear", access: "admin" }, () => undefined),
    defineRoute({ method: "GET", path: "/sacks/export", summary: "Export", access: "user" }, () =>
      reply("text"),
    ),
    defineRoute({ method: "GET", path: "/sacks/live", summary: "Live", access: "user" }, () =>
      stream(twice()),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/sack-files/**:path",
        summary: "Path",
        access: "user",
        params: z.object({ path: z.string() }),
      },
      ({ params }) => params.path,
    ),
  ];
}

async function* twice() {
  yield "data: 1\n\n";
  yield "data: 2\n\n";
}

interface NotesApi extends ApiOf<ReturnType<typeof noteRoutes>, "/api/v1"> {}

let app: App;
let client: Client<NotesApi>;

beforeAll(async () => {
  const plugin = definePlugin({
    id: "notes-test",
    title: "Notes",
    setup: () => ({ routes: { api: noteRoutes() } }),
  });
  app = await startApp({ plugins: [plugin] });
  const { token } = await app.admin();
  client = createClient<NotesApi>({ url: app.url, token: () => token });
});

afterAll(() => app?.close());

test("path, query and body reach the route, and the answer comes back", async () => {
  const answer = await client.call("POST /api/v1/sacks/:id/pages/:page", {
    params: { id: "a/b c", page: 7 },
    query: { notify: ["x", "y&z"] },
    body: { title: "T" },
  });
  expect(answer).toMatchObject({ id: "a/b c", page: "7", notify: ["x", "y&z"], title: "T", tags: [] });
  expect(await client.call("GET /api/v1/sacks")).toEqual([{ title: "a" }]);
  expect(await client.call("DELETE /api/v1/sacks")).toBeNull();
  expect(await client.call("GET /api/v1/sacks/export")).toBe("text");
  expect(await client.call("GET /api/v1/sack-files/**:path", { params: { path: "a b/c" } })).toBe("a b/c");
});

test("a stream is read from the raw response", async () => {
  const response = await client.open("GET /api/v1/sacks/live");
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  expect(await response.text()).toBe("data: 1\n\ndata: 2\n\n");
});

test("a refusal is an error with its status, body and text", async () => {
  const error = await createClient<NotesApi>({ url: app.url })
    .call("GET /api/v1/sacks")
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    status: 401,
    message: "Not authenticated",
    body: { detail: "Not authenticated" },
  });
  const invalid = client.call("POST /api/v1/sacks/:id/pages/:page", {
    params: { id: "a", page: "b" },
    // @ts-expect-error a title is a text
    body: { title: 1 },
  });
  await expect(invalid).rejects.toMatchObject({
    status: 422,
    message: "Title: Invalid input: expected string, received number",
  });
});

test("a call can be given up", async () => {
  const controller = new AbortController();
  controller.abort();
  await expect(client.call("GET /api/v1/sacks", { signal: controller.signal })).rejects.toThrow(/abort/i);
});

test("the platform's own routes are known, on every surface", async () => {
  const { token } = await app.admin();
  const platform = createClient<Api>({ url: app.url, token: () => token });
  const settings = await platform.call("GET /api/v1/configs/settings");
  expect(settings.length).toBeGreaterThan(100);
  expectTypeOf(settings[0]?.name).toEqualTypeOf<string | undefined>();
  const signedIn = await platform.call("POST /api/v1/auths/signin", {
    body: { email: "admin@example.test", password: "Correct-horse-1" },
  });
  expect(signedIn).toMatchObject({ role: "admin" });
  await expect(platform.call("GET /api/v1/files/:id", { params: { id: "none" } })).rejects.toMatchObject({
    status: 404,
  });
  const { data } = await platform.call("GET /api/models");
  expect(data.map(({ id }) => id)).toContain("guide");
  expectTypeOf<"GET /compat/models" extends keyof Api ? true : false>().toEqualTypeOf<true>();
});

test("what is not there is found as null, which no browser reports as an error of the page", async () => {
  const { token } = await app.admin();
  const platform = createClient<Api>({ url: app.url, token: () => token });
  expect(await platform.find("GET /api/v1/files/:id", { params: { id: "none" } })).toBeNull();
  expect(await platform.find("GET /api/v1/configs/settings")).not.toBeNull();
  const absent = await platform.open("GET /api/v1/files/:id", {
    params: { id: "none" },
    headers: { prefer: "absent=null" },
  });
  expect([absent.status, absent.headers.get("preference-applied")]).toEqual([200, "absent=null"]);
  const stranger = createClient<Api>({ url: app.url });
  await expect(stranger.find("GET /api/v1/configs/settings")).rejects.toMatchObject({ status: 401 });
});

describe("the checker", () => {
  test("knows every answer", () => {
    type Answer<K extends keyof NotesApi> = NotesApi[K]["answer"];
    expectTypeOf<Answer<"GET /api/v1/sacks">>().toEqualTypeOf<{ title: string }[]>();
    expectTypeOf<Answer<"POST /api/v1/sacks/:id/pages/:page">["at"]>().toEqualTypeOf<number>();
    expectTypeOf<Answer<"DELETE /api/v1/sacks">>().toEqualTypeOf<null>();
    expectTypeOf<Answer<"GET /api/v1/sacks/export">>().toEqualTypeOf<unknown>();
    expectTypeOf<NotesApi["GET /api/v1/sack-files/**:path"]["params"]>().toEqualTypeOf<{
      readonly path: string | number;
    }>();
  });

  test("refuses what no route takes", () => {
    const wrong = () => [
      // @ts-expect-error there is no such route
      client.call("GET /api/v1/nothing"),
      // @ts-expect-error the method is another one
      client.call("PUT /api/v1/sacks"),
      // @ts-expect-error the path has names to fill
      client.call("POST /api/v1/sacks/:id/pages/:page", { body: { title: "T" } }),
      // @ts-expect-error one name is missing
      client.call("POST /api/v1/sacks/:id/pages/:page", { params: { id: "1" }, body: { title: "T" } }),
      // @ts-expect-error the route takes no body
      client.call("GET /api/v1/sacks", { body: {} }),
    ];
    expect(wrong).toBeTypeOf("function");
  });
});
