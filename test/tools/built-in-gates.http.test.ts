import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { upload } from "#plugins/files/client.fixture.ts";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";

/** What a built-in tool needs to be offered; contract §3.6. */
interface Gates {
  readonly category: string;
  readonly plugin?: string;
  readonly permission?: readonly [string, string];
  /** Capabilities of the model and what they must not be. */
  readonly capabilities?: Readonly<Record<string, boolean | null>>;
  readonly needsFiles?: true;
  readonly needsSavedChat?: true;
}

const files: Gates = {
  category: "files",
  permission: ["chat", "file_upload"],
  capabilities: { file_upload: false, file_context: true },
  needsFiles: true,
};

const tools: Readonly<Record<string, Gates>> = {
  get_current_timestamp: { category: "time", plugin: "time-tools" },
  calculate_timestamp: { category: "time", plugin: "time-tools" },
  search_chats: { category: "chats" },
  view_chat: { category: "chats" },
  list_chat_files: files,
  query_chat_files: files,
  grep_chat_files: files,
  view_file: files,
  create_tasks: { category: "tasks", plugin: "task-list", needsSavedChat: true },
  update_task: { category: "tasks", plugin: "task-list", needsSavedChat: true },
  ask_user: { category: "ask_user", plugin: "ask-user" },
};
const names = Object.keys(tools);

let stage: RunStage;
let member: { token: string };
let fileOf: { member: string; admin: string };
const everybody = { principal_type: "user", principal_id: "*", permission: "read" };
const reads = { file_context: false };

async function makeModel(id: string, meta: object): Promise<void> {
  const body = { id, name: id, base_model_id: "alpha", meta, params: {}, access_grants: [everybody] };
  expect((await stage.user.call("POST /api/v1/models/create", body)).status).toBe(200);
}

beforeAll(async () => {
  stage = await startRunStage({ env: { OPENAI_API_CONFIGS: '{"0": {"access": "everyone"}}' } });
  member = await stage.app.user();
  const add = async (token: string) =>
    (await upload(stage.app, ["a.txt", "text"], { token, query: "?process_in_background=false" })).body.id;
  fileOf = { member: await add(member.token), admin: await add(stage.user.token) };
  await makeModel("all", { capabilities: reads });
  stage.upstream.always("/chat/completions", text("Fine."));
});
afterAll(() => stage?.close());

type Asking = { by?: "member" | "admin"; withFiles?: boolean; [key: string]: unknown };

/** The names of the tools that a model is offered for a reply in a chat that the server makes. */
async function offered({ by = "member", withFiles = true, ...body }: Asking = {}): Promise<string[]> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const asked = stage.upstream.nextRequest((request: UpstreamRequest) => request.body?.seed === seed);
  const sent = withFiles ? [{ type: "file", id: fileOf[by], name: "a.txt" }] : [];
  const question = { id: randomUUID(), content: "Hi", files: sent };
  const answer = await stage.app.call("POST /api/chat/completions", {
    token: by === "admin" ? stage.user.token : member.token,
    body: {
      model: "all",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      session_id: "s1",
      id: randomUUID(),
      parent_id: null,
      user_message: question,
      files: sent,
      seed,
      ...body,
    },
  });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  const definitions = ((await asked).body.tools ?? []) as { function: { name: string } }[];
  return definitions
    .map((tool) => tool.function.name)
    .filter((name) => names.includes(name))
    .toSorted();
}

const without = (isGone: (gates: Gates) => boolean) =>
  names.filter((name) => !isGone(tools[name] as Gates)).toSorted();

describe("built-in tools are offered", () => {
  it("all of them, where nothing is switched off", async () => {
    expect(await offered()).toEqual(names.toSorted());
    expect(await offered({ by: "admin" })).toEqual(names.toSorted());
  });

  it.each([...new Set(names.map((name) => tools[name]!.category))])(
    "but those of the category %s that the model's record switches off",
    async (category) => {
      const id = `without-${category}`;
      await makeModel(id, { capabilities: reads, builtinTools: { [category]: false } });
      expect(await offered({ model: id })).toEqual(without((gates) => gates.category === category));
    },
  );

  it("but those whose capability the model lacks", async () => {
    await makeModel("no-tools", { capabilities: { ...reads, builtin_tools: false } });
    expect(await offered({ model: "no-tools" })).toEqual([]);
    await makeModel("no-upload", { capabilities: { ...reads, file_upload: false } });
    await makeModel("context", { capabilities: {} });
    for (const model of ["no-upload", "context"]) {
      expect(await offered({ model })).toEqual(without(({ capabilities }) => capabilities !== undefined));
    }
  });

  it("but those that the caller has no permission for; administrators pass", async () => {
    const route = "/api/v1/users/default/permissions";
    const defaults = (await stage.user.call(`GET ${route}`)).body;
    for (const [section, name] of [["chat", "file_upload"]] as const) {
      const body = { ...defaults, [section]: { ...defaults[section], [name]: false } };
      await stage.user.call(`POST ${route}`, body);
      expect(await offered()).toEqual(
        without(({ permission }) => permission?.[0] === section && permission[1] === name),
      );
      expect(await offered({ by: "admin" })).toEqual(names.toSorted());
    }
    await stage.user.call(`POST ${route}`, defaults);
  });

  it("but those that have nothing to work on", async () => {
    expect(await offered({ withFiles: false })).toEqual(without(({ needsFiles }) => needsFiles === true));
    const temporary = { chat_id: `temporary:${randomUUID()}`, parent_id: undefined };
    expect(await offered(temporary)).toEqual(without(({ needsSavedChat }) => needsSavedChat === true));
  });

  it("to nobody without a session, in legacy mode, or beside tools of the caller's own", async () => {
    expect(await offered({ params: { function_calling: "legacy" } })).toEqual([]);
    expect(await offered({ tools: [] })).toEqual([]);
    const mine = { type: "function", function: { name: "mine", parameters: { type: "object" } } };
    expect(await offered({ tools: [mine] })).toEqual([]);
    expect(await offered({ session_id: undefined })).toEqual([]);
  });

  it("but those of plugins that are left out", { timeout: 60_000 }, async () => {
    const left = [...new Set(names.flatMap((name) => tools[name]!.plugin ?? []))];
    const old = { stage, member, fileOf };
    stage = await startRunStage({
      env: { PLUGINS_DISABLED: left.join(","), OPENAI_API_CONFIGS: '{"0": {"access": "everyone"}}' },
    });
    try {
      member = await stage.app.user();
      expect(await offered({ model: "alpha", withFiles: false })).toEqual(
        without(({ plugin, needsFiles }) => plugin !== undefined || needsFiles === true),
      );
    } finally {
      await stage.close();
      ({ stage, member, fileOf } = old);
    }
  });
});
