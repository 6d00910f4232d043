import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { failure, json, tokens } from "#test/support/upstream-scripts.ts";
import { calling, completions, type GatewayApp, saying, startGateway } from "../gateway.fixture.ts";

let gateway: GatewayApp;
let client: OpenAI;
let key: string;

beforeAll(async () => {
  gateway = await startGateway();
  key = await gateway.key();
  client = new OpenAI({ apiKey: key, baseURL: `${await gateway.url()}/v1`, maxRetries: 0 });
});
afterAll(() => gateway?.close());

const script = (...steps: ReturnType<typeof saying>[]) =>
  steps.forEach((step) => gateway.upstream.reply(completions, step));

async function post(body: object, headers: Record<string, string> = {}) {
  const given = { messages: [{ role: "user", content: "Do it" }], stream: false, ...body };
  return await gateway.gateway("POST /v1/chat/completions", key, { body: given, headers });
}
const chatOf = async (id: string) => (await gateway.admin(`GET /api/v1/chats/${id}`)).body.chat;

it("fixes a failing test in a repository, and shows, stores and undoes what it changed", async () => {
  const { id } = await gateway.workspace("repo", { instructions: "Use sh." });
  const root = join(gateway.root, "repo");
  await writeFile(join(root, "add.sh"), "echo $(($1 - $2))\n");
  await writeFile(
    join(root, "test.sh"),
    '[ "$(sh add.sh 2 3)" = 5 ] && echo PASS || { echo FAIL; exit 1; }\n',
  );
  script(
    calling("run_command", { command: "sh test.sh" }),
    calling("search_text", { pattern: "\\$1" }),
    calling("read_file", { path: "add.sh" }),
    calling("edit_file", { path: "add.sh", old_text: "$1 - $2", new_text: "$1 + $2" }),
    calling("run_command", { command: "sh test.sh" }),
    saying("The test passes now."),
  );
  const from = gateway.upstream.requests.length;
  const stream = await client.chat.completions
    .create({
      model: "gw/repo",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Fix the failing test" },
      ],
      stream: true,
      temperature: 2,
      top_p: 0.1,
      max_tokens: 1,
      stream_options: { include_usage: true },
    })
    .withResponse();
  const chunks = [];
  for await (const chunk of stream.data) {
    chunks.push(chunk);
  }
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  expect(text).toBe("The test passes now.");
  expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(["gw/repo"]));
  expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  expect(chunks.findLast(({ choices }) => choices.length > 0)?.choices[0]?.finish_reason).toBe("stop");
  expect(JSON.stringify(chunks)).toContain("Run a command: sh test.sh");
  expect(JSON.stringify(chunks)).not.toContain("tool_calls");
  expect(await readFile(join(root, "add.sh"), "utf8")).toBe("echo $(($1 + $2))\n");

  const asked = gateway.upstream.requests.slice(from).filter(completions);
  expect(asked).toHaveLength(6);
  const [first] = asked;
  const names = first!.body.tools.map(({ function: { name } }: { function: { name: string } }) => name);
  expect(names.toSorted()).toEqual([
    "edit_file",
    "fetch_page",
    "find_files",
    "list_files",
    "patch_files",
    "read_file",
    "run_command",
    "search_text",
    "write_file",
  ]);
  expect(first!.body.messages[0].content).toMatch(/Use sh\.[\s\S]*Be brief\./);
  expect(first!.body).not.toHaveProperty("temperature");
  expect(first!.body).not.toHaveProperty("max_tokens");
  expect(asked[1]!.body.messages.at(-1).content).toMatch(/Exit code: 1\nFAIL/);
  expect(asked[5]!.body.messages.at(-1).content).toMatch(/Exit code: 0\nPASS/);

  const chat = await chatOf(stream.response.headers.get("x-chat-id") ?? "");
  expect(chat.title).toBe("Fix the failing test");
  const reply = chat.history.messages[chat.history.currentId];
  const calls = reply.output.filter(({ type }: { type: string }) => type === "function_call");
  expect(calls).toHaveLength(5);
  expect(reply.done).toBe(true);

  const base = `/api/v1/gateway/workspaces/${id}/runs`;
  const [run] = (await gateway.admin(`GET ${base}`)).body;
  expect(run).toMatchObject({ status: "done", changed_files: 1, error: null });
  const changes = await gateway.admin(`GET ${base}/${run.id}/changes`);
  expect(changes.body).toMatchObject([{ path: "add.sh", kind: "changed" }]);
  expect(changes.body[0].diff).toContain("+echo $(($1 + $2))");
  await writeFile(join(root, "add.sh"), "mine\n");
  const refused = await gateway.admin(`POST ${base}/${run.id}/undo`);
  expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining("add.sh")]);
  await writeFile(join(root, "add.sh"), "echo $(($1 + $2))\n");
  expect((await gateway.admin(`POST ${base}/${run.id}/undo`)).body.undone_at).toBeGreaterThan(0);
  expect(await readFile(join(root, "add.sh"), "utf8")).toBe("echo $(($1 - $2))\n");
});

it("streams unless told otherwise, and answers whole when told", async () => {
  await gateway.workspace("plain");
  script(saying("One."), saying("Two."));
  const streamed = await post({ model: "gw/plain", stream: undefined });
  expect(streamed.headers.get("content-type")).toContain("text/event-stream");
  expect(streamed.text).toMatch(/data: \[DONE\]\n\n$/);
  const whole = await post({ model: "gw/plain" });
  expect(whole.body).toMatchObject({
    object: "chat.completion",
    model: "gw/plain",
    choices: [{ index: 0, message: { role: "assistant", content: "Two." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  });
  expect(streamed.headers.get("x-chat-id")).not.toBe(whole.headers.get("x-chat-id"));
});

it("continues a chat by X-Chat-Id, whether the caller chose the id or an answer named it", async () => {
  await gateway.workspace("chat");
  script(saying("A"), saying("B"), saying("C"));
  const first = await post({ model: "gw/chat" }, { "x-chat-id": "my-chat" });
  const id = first.headers.get("x-chat-id") as string;
  const more = { model: "gw/chat", messages: [{ role: "user", content: "And then?" }] };
  expect((await post(more, { "x-chat-id": "my-chat" })).headers.get("x-chat-id")).toBe(id);
  const before = gateway.upstream.requests.length;
  expect((await post(more, { "x-chat-id": id })).headers.get("x-chat-id")).toBe(id);
  const said = gateway.upstream.requests.slice(before).find(completions)!.body.messages;
  expect(said.slice(1).map(({ content }: { content: string }) => content)).toEqual([
    "Do it",
    "A",
    "And then?",
    "B",
    "And then?",
  ]);
});

it("makes branches of edits and regenerations by the X-Service headers", async () => {
  await gateway.workspace("tree");
  const ask = async (question: string, answer: string, [user, reply, parent]: (string | undefined)[]) => {
    script(saying(answer));
    const answered = await post(
      { model: "gw/tree", messages: [{ role: "user", content: question }] },
      {
        "x-service-chat-id": "outer",
        "x-service-user-message-id": user ?? "",
        "x-service-message-id": reply ?? "",
        "x-service-user-message-parent-id": parent ?? "{{USER_MESSAGE_PARENT_ID}}",
        "x-service-task": "{{TASK}}",
      },
    );
    return answered.headers.get("x-chat-id") as string;
  };
  const id = await ask("Q1", "A1", ["u1", "a1", undefined]);
  await ask("Q2", "A2", ["u2", "a2", "a1"]);
  await ask("Q2", "A2 again", ["u2", "a3", "a1"]);
  await ask("Q2 edited", "A3", ["u3", "a4", "a1"]);
  await ask("Q1 edited", "A4", ["u4", "a5", undefined]);
  const { messages } = (await chatOf(id)).history;
  const tree = (parent: string | null): unknown[] =>
    Object.values(messages as Record<string, { id: string; parentId: string | null; content: string }>)
      .filter(({ parentId }) => parentId === parent)
      .map((message) => [message.content, ...tree(message.id)]);
  expect(tree(null)).toEqual([
    ["Q1", ["A1", ["Q2", ["A2"], ["A2 again"]], ["Q2 edited", ["A3"]]]],
    ["Q1 edited", ["A4"]],
  ]);
});

it.each(["title_generation", "tags_generation", "follow_up_generation"])(
  "answers %s by the plain model, without an agent and a chat",
  async (task) => {
    const folder = `task-${task.split("_")[0]}`;
    const { id } = await gateway.workspace(folder);
    gateway.upstream.reply(
      completions,
      json({
        choices: [{ index: 0, message: { role: "assistant", content: "A title" }, finish_reason: "stop" }],
      }),
    );
    const from = gateway.upstream.requests.length;
    const answered = await post({ model: `gw/${folder}` }, { "x-service-task": task });
    expect(answered.body.choices[0].message.content).toBe("A title");
    expect(gateway.upstream.requests.slice(from).find(completions)!.body).not.toHaveProperty("tools");
    expect((await gateway.admin(`GET /api/v1/gateway/workspaces/${id}/runs`)).body).toEqual([]);
  },
);

it("chooses the model by setting, override, default and first connection, in this order", async () => {
  gateway.upstream.models = ["alpha", "beta", "gamma", "delta"];
  await gateway.admin("GET /api/models?refresh=true");
  const admin = await gateway.app.admin();
  const set = (changes: object) => admin.call("POST /api/v1/gateway/config", changes);
  await gateway.workspace("choice");
  const root = join(gateway.root, "choice");
  const used = async () => {
    script(saying("x"));
    const from = gateway.upstream.requests.length;
    const answered = await post({ model: "gw/choice" });
    return [answered.status, gateway.upstream.requests.slice(from).find(completions)?.body.model];
  };
  expect(await used()).toEqual([200, "alpha"]);
  const { registry } = gateway.app.running;
  await registry.set({ DEFAULT_MODELS: "beta" }, null);
  expect(await used()).toEqual([200, "beta"]);
  await mkdir(join(root, ".gw"));
  await writeFile(join(root, ".gw/model"), "gamma\n");
  expect(await used()).toEqual([200, "gamma"]);
  await set({ model: "delta" });
  expect(await used()).toEqual([200, "delta"]);
  await set({ model: "" });
  await gateway.workspace("linked");
  await symlink(join(root, ".gw"), join(gateway.root, "linked/.gw"));
  const linked = await post({ model: "gw/linked" });
  expect([linked.status, linked.body.error.message]).toEqual([400, expect.stringContaining(".gw/model")]);
  await registry.set({ DEFAULT_MODELS: "" }, null);
});

it("refuses a second run in a workspace while one is at work, and is stopped from the interface", async () => {
  const { id } = await gateway.workspace("busy");
  gateway.upstream.reply(completions, tokens(2_000, 20));
  const first = await client.chat.completions
    .create({ model: "gw/busy", messages: [{ role: "user", content: "Long" }], stream: true })
    .withResponse();
  const chatId = first.response.headers.get("x-chat-id");
  const second = await post({ model: "gw/busy" });
  expect([second.status, second.body.error.message]).toEqual([409, expect.stringContaining(`${chatId}`)]);
  await gateway.admin(`POST /api/tasks/chat/${chatId}/stop`);
  for await (const _chunk of first.data) {
    // Read to the end.
  }
  await expect
    .poll(async () => (await gateway.admin(`GET /api/v1/gateway/workspaces/${id}/runs`)).body[0].status)
    .toBe("stopped");
  script(saying("Free again."));
  expect((await post({ model: "gw/busy" })).status).toBe(200);
});

it("tells what is wrong, in the common error shape", async () => {
  await gateway.workspace("wrong");
  const wrong: [object, number][] = [
    [{ model: "gw/none" }, 404],
    [{ model: "alpha" }, 404],
    [{ model: "" }, 400],
    [{ model: "gw/wrong", messages: [] }, 400],
    [{ model: "gw/wrong", messages: "x" }, 400],
    [{ model: "gw/wrong", messages: [{ role: "assistant", content: "x" }] }, 400],
    [{ model: "gw/wrong", messages: [{ role: "user", content: "" }] }, 400],
    [{ model: "gw/wrong", stream: "yes" }, 400],
  ];
  for (const [body, status] of wrong) {
    const answered = await post(body);
    expect([body, answered.status]).toEqual([body, status]);
    expect(answered.body.error).toMatchObject({ message: expect.any(String), code: status });
  }
  const broken = await gateway.gateway("POST /v1/chat/completions", key, { body: "{" });
  expect([broken.status, broken.body.error.code]).toEqual([400, 400]);
  expect((await gateway.gateway("POST /v1/chat/completions", undefined, { body: "{" })).status).toBe(401);
  expect((await post({ model: "gw/wrong" }, { "x-chat-id": "x".repeat(201) })).status).toBe(400);
  gateway.upstream.reply(completions, failure(500, "It broke"));
  const failed = await post({ model: "gw/wrong" });
  expect([failed.status, failed.body.error.message]).toEqual([502, expect.stringContaining("It broke")]);
});

it("keeps tools inside the workspace, and tells the model why", async () => {
  await gateway.workspace("inside");
  await writeFile(join(gateway.root, "secret.txt"), "the secret");
  await symlink(gateway.root, join(gateway.root, "inside/up"));
  script(
    calling("read_file", { path: "../secret.txt" }),
    calling("read_file", { path: "up/secret.txt" }),
    calling("write_file", { path: "up/new.txt", content: "x" }),
    calling("fetch_page", { url: gateway.upstream.origin }),
    calling("patch_files", { patch: "--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n" }),
    calling("patch_files", { patch: "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n" }),
    calling("find_files", { pattern: "*.txt" }),
    saying("Done."),
  );
  const from = gateway.upstream.requests.length;
  expect((await post({ model: "gw/inside" })).status).toBe(200);
  const results = gateway.upstream.requests
    .slice(from)
    .filter(completions)
    .slice(1)
    .map(({ body }) => body.messages.at(-1).content as string);
  expect(results.slice(0, 5).every((text) => text.startsWith("Error: "))).toBe(true);
  expect(JSON.stringify(results)).not.toContain("the secret");
  expect(results.slice(5)).toEqual(["Wrote new.txt.", "new.txt"]);
});
