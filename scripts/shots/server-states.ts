import { randomUUID } from "node:crypto";
import { startTerminalServer } from "#test/support/terminal/server.ts";
import type { Look, State } from "./state.ts";
import type { World } from "./world.ts";

const all: readonly Look[] = ["desk-light", "desk-dark", "phone-light", "phone-dark"];

const operation = (id: string, summary: string, name: string) => ({
  operationId: id,
  summary,
  parameters: [{ name, in: "query", required: true, schema: { type: "string" } }],
  responses: { 200: { description: "Fine" } },
});
const board = {
  openapi: "3.1.0",
  info: { title: "River board", version: "2.4" },
  paths: {
    "/gauges": { get: operation("list_gauges", "Levels of all gauges of a river", "river") },
    "/forecast": { get: operation("read_forecast", "What the next days bring", "valley") },
    "/notice": { post: operation("send_notice", "Tells millers of high water", "text") },
  },
};
const everyone = { access_grants: [{ principal_type: "user", principal_id: "*", permission: "read" }] };
const servers = [
  {
    type: "openapi",
    url: "https://board.example",
    auth_type: "bearer",
    key: "sk-river-board",
    spec_type: "json",
    spec: JSON.stringify(board),
    info: { id: "board", name: "River board", description: "Gauges and forecasts of the Lumme valley" },
    config: { enable: true, ...everyone },
  },
  {
    type: "mcp",
    url: "http://127.0.0.1:9/mcp",
    auth_type: "oauth_2.1_static",
    info: { id: "tickets", name: "Tickets" },
    config: { enable: true },
  },
  {
    type: "openapi",
    url: "http://127.0.0.1:9",
    auth_type: "none",
    info: { id: "archive", name: "Archive of the guild" },
    config: { enable: false },
  },
];

async function send({ url, token }: World, path: string, body: object): Promise<{ id: string }> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) {
    throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
  }
  return (await answer.json()) as { id: string };
}

const setServers = (world: World) =>
  send(world, "/api/v1/configs/tool_servers", { TOOL_SERVER_CONNECTIONS: servers });

/** A chat whose reply ran code that the model wrote into it. */
async function makeCodeChat(world: World): Promise<string> {
  const [question, reply] = [randomUUID(), randomUUID()];
  const messages = {
    [question]: {
      id: question,
      role: "user",
      content: "How fast does a wheel of 4.2 m turn at 1.6 m/s?",
      parentId: null,
      childrenIds: [reply],
      models: ["miller-large"],
    },
    [reply]: {
      id: reply,
      role: "assistant",
      model: "miller-large",
      modelName: "miller-large",
      parentId: question,
      childrenIds: [],
      done: true,
      content: "",
      output: codeOutput,
    },
  };
  const chat = {
    title: "Turns of a wheel",
    models: ["miller-large"],
    history: { currentId: reply, messages },
  };
  return (await send(world, "/api/v1/chats/new", { chat })).id;
}

const said = (id: string, text: string) => ({
  type: "message",
  id,
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const ran = (id: string, code: string, more: object) => ({
  type: "service:code_interpreter",
  id,
  status: "completed",
  lang: "python",
  code,
  attributes: { type: "code", lang: "python" },
  ...more,
});
const codeOutput = [
  said("msg_1", "The rim moves as fast as the water that drives it. I calculate the turns."),
  ran("ci_1", "diameter = 4.2\nspeed = 1.6\nturns = speed / (diameter * math.pi) * 60\nround(turns, 2)", {
    is_error: true,
    duration: 0.2,
    output: {
      stdout: "",
      result: "",
      stderr:
        "Traceback (most recent call last):\n  File \"<exec>\", line 3, in <module>\nNameError: name 'math' is not defined",
    },
  }),
  said("msg_2", "An import was missing."),
  ran(
    "ci_2",
    "import math\n\ndiameter = 4.2\nfor speed in (1.2, 1.6, 2.0):\n    turns = speed / (diameter * math.pi) * 60\n    print(f'{speed:.1f} m/s: {turns:.2f} turns a minute')\nround(1.6 / (4.2 * math.pi) * 60, 2)",
    {
      duration: 0.1,
      output: {
        stdout: "1.2 m/s: 5.46 turns a minute\n1.6 m/s: 7.28 turns a minute\n2.0 m/s: 9.09 turns a minute\n",
        result: "7.28",
        stderr: "",
      },
    },
  ),
  said("msg_3", "At 1.6 m/s the wheel makes **7.3 turns a minute**."),
];

/** Tool servers, terminals, and code that models run. */
export const serverStates: readonly State[] = [
  {
    name: "tool-servers-empty",
    show: async (page, world) => {
      await send(world, "/api/v1/configs/tool_servers", { TOOL_SERVER_CONNECTIONS: [] });
      await page.goto("/admin/tool-servers");
      await page.getByRole("button", { name: "Add a tool server" }).first().waitFor();
    },
  },
  {
    name: "tool-servers-list",
    looks: all,
    show: async (page, world) => {
      await setServers(world);
      await page.goto("/admin/tool-servers");
      await page.getByRole("article", { name: "River board" }).getByText("3 functions").waitFor();
    },
  },
  {
    name: "tool-servers-functions",
    looks: all,
    show: async (page, world) => {
      await setServers(world);
      await page.goto("/admin/tool-servers");
      const card = page.getByRole("article", { name: "River board" });
      await card.getByRole("button", { expanded: false }).click();
      await card.getByRole("button", { name: /read_forecast/ }).click();
    },
  },
  {
    name: "tool-servers-sign-in",
    looks: all,
    show: async (page, world) => {
      await setServers(world);
      await page.goto("/admin/tool-servers");
      const card = page.getByRole("article", { name: "Tickets" });
      await card.getByRole("button", { expanded: false }).click();
      await card.getByRole("tab", { name: "Settings" }).click();
      await page.getByLabel("Client id").scrollIntoViewIfNeeded();
    },
  },
  { name: "tool-servers-own", show: (page) => page.goto("/settings/tool-servers") },
  {
    name: "terminals-admin",
    looks: all,
    show: async (page, world) => {
      const entries = [
        { id: "box", name: "Workshop", url: "http://127.0.0.1:9", key: "key", config: everyone },
        { id: "lab", name: "Laboratory", url: "http://127.0.0.1:9", key: "key", enabled: false },
      ];
      await send(world, "/api/v1/configs/terminal_servers", { TERMINAL_SERVER_CONNECTIONS: entries });
      await page.goto("/admin/terminals");
      await page.getByText("Workshop").first().waitFor();
    },
  },
  {
    name: "terminals-panel",
    looks: all,
    show: async (page, world) => {
      const box = await startTerminalServer();
      page.context().once("close", () => void box.close());
      const entries = [{ id: "box", name: "Workshop", url: box.url, key: box.key, config: everyone }];
      await send(world, "/api/v1/configs/terminal_servers", { TERMINAL_SERVER_CONNECTIONS: entries });
      await page.goto(`/c/${world.chats.mill}`);
      await page.getByRole("button", { name: "Terminal", exact: true }).click();
      const input = page.getByRole("textbox", { name: "Terminal input" });
      await input.waitFor({ state: "attached", timeout: 20_000 });
      await input.focus();
      await page.keyboard.type('echo "wheel: $((4 * 18)) paddles"; ls /\n');
      await page.waitForTimeout(1_500);
    },
  },
  {
    name: "code-of-a-model",
    looks: all,
    show: async (page, world) => {
      await page.goto(`/c/${await makeCodeChat(world)}`);
      await page.getByText("turns a minute").last().waitFor();
    },
  },
];
