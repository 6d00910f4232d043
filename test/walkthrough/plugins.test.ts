import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectPlain } from "#test/support/sockets.ts";
import { fileOf, readBlocks } from "#test/support/docs-pages.ts";
import { root, runShell, type Started, startShell } from "#test/support/shell.ts";

let folder: string;
let server: Started;
let admin: Person;
let ana: Person;
let ben: Person;

interface Person {
  readonly id: string;
  readonly token: string;
}

/** Uses the tools, the service and the slot of the pages' plugins. */
const toolbox = `
import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { defineFilter } from "#kernel/pipeline/filter.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill, optional } from "#kernel/service.ts";
import { toolRegistry } from "#kernel/services.ts";
import { almanac, holidays } from "../almanac/service.ts";

export default definePlugin({
  id: "toolbox",
  title: "Toolbox",
  uses: { tools: toolRegistry, almanac: optional(almanac) },
  setup({ use }) {
    const run = defineRoute(
      { method: "POST", path: "/toolbox", summary: "Run the tool of events", access: "user", body: z.looseObject({}) },
      async ({ caller, body, request }) => {
        const tools = await use.tools.select({ principal: caller, toolIds: [] });
        const tool = tools.find(({ spec }) => spec.name === "upcoming_events");
        const context = { principal: caller, chatId: undefined, messageId: undefined, signal: request.signal };
        return { name: tool?.spec.name ?? null, result: await tool?.run(body, context) };
      },
    );
    const filter = defineFilter({
      id: "toolbox.next",
      name: "Next event",
      priority: 50,
      async inlet(request, { principal }) {
        const [next] = (await use.almanac?.upcoming(principal, 1)) ?? [];
        return { ...request, messages: [{ role: "system", content: "Next: " + next?.title }, ...request.messages] };
      },
    });
    return { routes: { api: [run] }, filters: [filter], fills: [fill(holidays, { title: "New Year", starts_at: 1 })] };
  },
});
`;

/** Writes every block of the two pages that names its file below `place`. */
async function writePlugins(place: string): Promise<string[]> {
  const pages = ["docs/plugins.md", "docs/plugins-reference.md"];
  const blocks = (await Promise.all(pages.map((page) => readBlocks(page)))).flat();
  const named = blocks.map((block) => ({ path: fileOf(block), text: block.text }));
  const files = named.filter((file): file is { path: string; text: string } => file.path !== undefined);
  for (const { path, text } of files) {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), text);
  }
  return files.map(({ path }) => path);
}

/** The pages that a person may open, without those of the project's own plugins. */
async function foreignPages(person: Person): Promise<unknown[]> {
  const { body } = await call("GET /api/v1/pages", person);
  return (body as { module: string | null }[]).filter(({ module }) => module !== null);
}

async function call(
  route: string,
  person: Person | undefined,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const [method, path] = route.split(" ", 2) as [string, string];
  const answer = await fetch(server.url + path, {
    method,
    headers: {
      ...(person && { authorization: `Bearer ${person.token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.includes("json") === true;
  return { status: answer.status, text, body: isJson ? JSON.parse(text) : text };
}

async function add(name: string): Promise<Person> {
  const account = { name, email: `${name}@example.test`, password: "Correct-horse-1", role: "user" };
  await call("POST /api/v1/auths/add", admin, account);
  return (await call("POST /api/v1/auths/signin", undefined, account)).body;
}

const calendars = "/api/v1/almanac/calendars";
const inAnHour = Math.floor(Date.now() / 1000) + 3600;

async function makeCalendar(owner: Person, name: string): Promise<string> {
  const made = await call(`POST ${calendars}`, owner, { name });
  expect(made.status).toBe(201);
  return made.body.id;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "plugins-page-"));
  await writePlugins(join(folder, "plugins"));
  await mkdir(join(folder, "plugins/toolbox"));
  await writeFile(join(folder, "plugins/toolbox/plugin.ts"), toolbox);
  const env = {
    PLUGINS_PATH: join(folder, "plugins"),
    ALMANAC_SWEEP_SECONDS: "1",
    DATA_DIR: join(folder, "data"),
    PORT: "0",
    GLOBAL_LOG_LEVEL: "WARNING",
  };
  server = await startShell("npm start", { cwd: root, env });
  const first = { name: "Root", email: "root@example.test", password: "Correct-horse-1" };
  admin = (await call("POST /api/v1/auths/signup", undefined, first)).body;
  [ana, ben] = [await add("ana"), await add("ben")];
}, 120_000);

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("the plugins of the pages, dropped into a folder", () => {
  it("load without a complaint and stand in the API docs", async () => {
    expect(server.output()).not.toMatch(/WARN|ERROR/);
    expect((await call("GET /api/v1/openapi.json", undefined)).text).toContain("AlmanacCalendar");
  });

  it("answer their routes to members who hold the permission only", async () => {
    expect((await call(`GET ${calendars}`, undefined)).status).toBe(401);
    expect((await call(`GET ${calendars}`, ana)).body).toEqual([]);
    expect((await call(`POST ${calendars}`, ana, { name: " " })).status).toBe(422);
    const tree = (await call("GET /api/v1/users/default/permissions", admin)).body;
    expect(tree.features.almanac).toBe(true);
    const without = { ...tree, features: { ...tree.features, almanac: false } };
    expect((await call("POST /api/v1/users/default/permissions", admin, without)).status).toBe(200);
    expect((await call(`GET ${calendars}`, ana)).status).toBe(403);
    await call("POST /api/v1/users/default/permissions", admin, tree);
    expect((await call(`GET ${calendars}`, ana)).status).toBe(200);
  });

  it("show their page to members who hold the permission only", async () => {
    const almanac = {
      id: "almanac",
      plugin: "almanac",
      path: "/almanac",
      title: "Almanac",
      icon: "calendar",
      place: "main",
      group: null,
      order: null,
      module: "/plugins/almanac/almanac.js",
    };
    expect(await foreignPages(ana)).toEqual([almanac]);
    expect((await call(`GET ${almanac.module}`, undefined)).text).toContain("export async function mount");
    const tree = (await call("GET /api/v1/users/default/permissions", admin)).body;
    const without = { ...tree, features: { ...tree.features, almanac: false } };
    await call("POST /api/v1/users/default/permissions", admin, without);
    expect(await foreignPages(ana)).toEqual([]);
    await call("POST /api/v1/users/default/permissions", admin, tree);
  });

  it("speak with clients over sockets", async () => {
    const answer = (data: { data: { data: { title: string } } }) => data.data.data.title === "Sure?";
    const one = await connectPlain(server.url, { token: ana.token, answer });
    const other = await connectPlain(server.url, { token: ana.token });
    await other.sessionId();
    expect(await one.emit("wave:send", { text: "hello" })).toEqual({ waved: true });
    const content = "ana: hello";
    expect(await other.event((name) => name === "events")).toMatchObject({
      data: { type: "notification", data: { type: "info", content } },
    });
    expect(await one.emit("wave:sure")).toBe(true);
    expect(one.events.filter(({ data }) => data.data?.type === "notification")).toEqual([]);
    [one, other].forEach((client) => client.close());
  });

  it("repeat the first answer for the same key", async () => {
    const key = { "idempotency-key": "one" };
    const first = await call(`POST ${calendars}`, ben, { name: "Twice" }, key);
    const second = await call(`POST ${calendars}`, ben, { name: "Twice" }, key);
    expect([first.status, second.body]).toEqual([201, first.body]);
    expect((await call(`GET ${calendars}`, ben)).body).toHaveLength(1);
  });

  it("show a calendar to its owner, and to others as far as it is shared", async () => {
    const id = await makeCalendar(ana, "Moon");
    const read = () => call(`GET ${calendars}/${id}/events`, ben);
    const write = () =>
      call(`POST ${calendars}/${id}/events`, ben, { title: "Eclipse", starts_at: inAnHour });
    const share = (permission: string) =>
      call(`POST ${calendars}/${id}/access`, ana, [
        { principal_type: "user", principal_id: ben.id, permission },
      ]);
    expect([(await read()).status, (await write()).status]).toEqual([404, 404]);
    expect((await share("read")).status).toBe(200);
    expect([(await read()).status, (await write()).status]).toEqual([200, 403]);
    await share("write");
    expect((await write()).status).toBe(200);
    expect((await call(`GET ${calendars}/${id}/events`, ana)).body).toMatchObject([{ title: "Eclipse" }]);
    const names = (await call(`GET ${calendars}`, ben)).body.map(({ name }: { name: string }) => name);
    expect(names).toContain("Moon");
    const nobody = [{ principal_type: "user", principal_id: "", permission: "read" }];
    expect((await call(`POST ${calendars}/${id}/access`, ana, nobody)).status).toBe(400);
  });

  it("lend their tool, with what other plugins put into the slot", async () => {
    const { body } = await call("POST /api/v1/toolbox", ana, { limit: 5 });
    expect(body.name).toBe("upcoming_events");
    expect(body.result.map(({ title }: { title: string }) => title)).toEqual(["New Year", "Eclipse"]);
  });

  it("answer as a model, whole and streamed, with what an inlet filter learned from the service", async () => {
    const request = { model: "parrot", messages: [{ role: "user", content: "pretty bird" }] };
    const whole = await call("POST /api/chat/completions", ana, request);
    expect(whole.body.choices[0].message.content).toBe("Next: Eclipse / pretty bird");
    const streamed = await call("POST /api/chat/completions", ana, { ...request, stream: true });
    const words = [...streamed.text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]).join("");
    expect(words).toBe("Next: Eclipse / pretty bird");
    expect(streamed.text).toContain("[DONE]");
  });

  it("do their job: events of long ago go away", { timeout: 60_000 }, async () => {
    const id = await makeCalendar(ana, "Past");
    await call(`POST ${calendars}/${id}/events`, ana, { title: "Long ago", starts_at: 1000 });
    await call(`POST ${calendars}/${id}/events`, ana, { title: "Soon", starts_at: inAnHour });
    const titles = async () =>
      (await call(`GET ${calendars}/${id}/events`, ana)).body.map(({ title }: { title: string }) => title);
    await expect.poll(titles, { timeout: 45_000, interval: 250 }).toEqual(["Soon"]);
  });

  it("keep silent while switched off, for administrators too, and lose nothing", async () => {
    const turn = (isOn: boolean) => call("POST /api/v1/configs/settings", admin, { ENABLE_ALMANAC: isOn });
    expect((await turn(false)).status).toBe(200);
    expect((await call(`GET ${calendars}`, admin)).status).toBe(403);
    expect((await call("POST /api/v1/toolbox", ana, {})).body.name).toBeNull();
    expect(await foreignPages(admin)).toEqual([]);
    await turn(true);
    expect((await call(`GET ${calendars}`, ana)).body).toHaveLength(2);
  });
});

it("the pages' test and types hold in a checkout", { timeout: 180_000 }, async () => {
  // Beside the sources, as in a checkout, but in a folder that checks ignore.
  await mkdir(join(root, ".cache"), { recursive: true });
  const place = await mkdtemp(join(root, ".cache/plugins-page-"));
  try {
    const files = await writePlugins(place);
    expect(files).toContain("almanac/almanac.http.test.ts");
    const types = { extends: "../../tsconfig.json", include: ["."], exclude: [] };
    await writeFile(join(place, "tsconfig.json"), JSON.stringify(types));
    await writeFile(
      join(place, "vitest.config.js"),
      `import shared from "../../vitest.config.ts";
      const { projects, ...rest } = shared.test;
      const [{ test: { name, exclude, ...platform } }] = projects;
      export default { test: { ...rest, ...platform, root: ${JSON.stringify(root)}, dir: ${JSON.stringify(place)}, include: ["**/*.test.ts"] } };`,
    );
    const node = `"${process.execPath}" --no-node-snapshot`;
    const options = { cwd: root, env: { CI: "1" } };
    const checked = await runShell(`${node} node_modules/typescript/bin/tsc -p "${place}" || true`, options);
    expect(checked).toBe("");
    const report = join(place, "report.json");
    const vitest = `${node} node_modules/vitest/vitest.mjs run --config "${place}/vitest.config.js"`;
    await runShell(`${vitest} --reporter json --outputFile "${report}"`, options);
    expect(JSON.parse(await readFile(report, "utf8"))).toMatchObject({ numPassedTests: 1, success: true });
  } finally {
    await rm(place, { recursive: true, force: true });
  }
});
