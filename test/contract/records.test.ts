import { describe, expect, it } from "vitest";
import { type Client, createClient } from "#plugins/web/kit/client.ts";
import type { Api } from "#plugins/catalogue.ts";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";

// ecosystem-shapes.md, Lists and records: models, files and functions.

let app: App;
let client: Client<Api>;

setUp(async (keep) => {
  ({ app } = await keep(useAppWithUpstream({ connection: {}, env: { OPENAI_API_KEYS: "key" } })));
  const { token } = await app.admin();
  client = createClient<Api>({ url: app.url, token: () => token });
});

it("GET /api/models shows the provider of a connection and its kind in the upstream's item", async () => {
  const { data } = await client.call("GET /api/models", { query: { refresh: "true" } });
  expect(data.find(({ id }: { id: string }) => id === "alpha")).toMatchObject({
    provider: "",
    openai: { id: "alpha", connection_type: "external" },
  });
});

describe("files", () => {
  const upload = async () => {
    const form = new FormData();
    form.set("file", new File(["Hello"], "hello.txt", { type: "text/plain" }));
    return await client.call("POST /api/v1/files/", {
      body: form,
      query: { process_in_background: "false" },
    });
  };

  it("show the key of their bytes and that nothing failed, the key not in lists", async () => {
    const { id, path } = await upload();
    expect(path).toEqual(expect.any(String));
    const read = await client.call("GET /api/v1/files/:id", { params: { id } });
    expect(read).toMatchObject({ path, data: { status: "completed", error: null } });
    const { items } = (await client.call("GET /api/v1/files/")) as { items: { id: string }[] };
    const listed = items.find((item) => item.id === id);
    expect(listed).toMatchObject({ data: { error: null } });
    expect(listed).not.toHaveProperty("path");
  });

  it("say that they are deleted", async () => {
    const { id } = await upload();
    expect(await client.call("DELETE /api/v1/files/:id", { params: { id } })).toEqual({
      message: "File deleted successfully",
    });
    expect(await client.call("DELETE /api/v1/files/all")).toEqual({
      message: "All files deleted successfully",
    });
  });
});

describe("functions", () => {
  const content = `
    export const valves = { max_items: { type: "integer", default: 1 }, own: { type: "string", title: "Mine" } };
    export const userValves = { tone: { type: "string" } };
    export const inlet = (body) => body;`;

  it("name the version of their code", async () => {
    const form = { id: "shape", name: "Shape", content, meta: {} };
    const made = await client.call("POST /api/v1/functions/create", { body: form });
    expect(made.version_id).toBe("1");
    const params = { id: "shape" };
    const body = { ...form, content: `${content}\n// changed` };
    const changed = await client.call("POST /api/v1/functions/id/:id/update", { params, body });
    expect(changed.version_id).toBe("2");
    const renamed = await client.call("POST /api/v1/functions/id/:id/update", {
      params,
      body: { ...body, name: "Renamed" },
    });
    expect(renamed.version_id).toBe("2");
    const versions = await client.call("GET /api/v1/functions/id/:id/versions", { params });
    expect(versions[0]).toMatchObject({ version: 2, is_current: true });
    expect((await client.call("GET /api/v1/functions/list"))[0]).toMatchObject({ version_id: "2" });
  });

  it("give the form of their valves a title, and every setting its own", async () => {
    const params = { id: "shape" };
    const spec = await client.call("GET /api/v1/functions/id/:id/valves/spec", { params });
    expect(spec).toMatchObject({
      title: "Valves",
      properties: { max_items: { title: "Max Items" }, own: { title: "Mine" } },
    });
    const own = await client.call("GET /api/v1/functions/id/:id/valves/user/spec", { params });
    expect(own).toMatchObject({ title: "UserValves", properties: { tone: { title: "Tone" } } });
  });
});
