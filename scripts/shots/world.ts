import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { drawPicture } from "#test/support/pictures.ts";
import { isSpeech, isTranscription, speaks, toneWav } from "#plugins/audio/audio.fixture.ts";
import { startProcess } from "#test/support/process.ts";
import { startRuntime } from "#test/support/runtime.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { json, sse, text } from "#test/support/upstream-scripts.ts";
import { paced } from "#test/support/upstream-paced.ts";
import { chats, otherTitles, toChat } from "./chats.ts";
import { toDelegating } from "./delegating.ts";
import { toEdit } from "./scripted-edit.ts";
import { longAnswer } from "./texts.ts";

const model = "miller-large";
const account = { name: "Ada Miller", email: "ada@mill.example", password: "Grinding-stones-1" };

/** A server with an account, models and chats, as somebody has it after a week. */
export interface World {
  readonly url: string;
  readonly token: string;
  readonly chats: Readonly<Record<keyof typeof chats, string>>;
  /** The folder of the gateway's workspaces. */
  readonly workspaces: string;
  /** Id of a chat's link that is open to anyone. */
  readonly share: string;
  /** Has the next recording wait for its text as long as the server runs. */
  holdTranscription(): void;
  close(): Promise<void>;
}

/** Starts the real program on the embedded database, with a scripted upstream as its only connection. */
export async function openWorld(): Promise<World> {
  const upstream = await startUpstream();
  answerAs(upstream);
  upstream.always(isSpeech, speaks(toneWav(20, { rests: false }), "audio/wav"));
  upstream.always("/audio/voices", json({ voices: ["river", "stone", "wheel"] }));
  upstream.always(isTranscription, json({ text: "Which parts does a water mill have?" }));
  const runtime = await startRuntime([
    { name: "river:7b", model: "river:7b", size: 4_700_000_000 },
    { name: "stone:3b", model: "stone:3b", size: 1_900_000_000 },
  ]);
  runtime.loaded = [{ name: "river:7b", model: "river:7b", size_vram: 5_200_000_000 }];
  const data = mkdtempSync(join(tmpdir(), "millrace-shots-"));
  const workspaces = mkdtempSync(join(tmpdir(), "millrace-workspaces-"));
  const server = await startProcess({
    DATA_DIR: data,
    OPENAI_API_BASE_URLS: upstream.url,
    OPENAI_API_KEYS: "key",
    OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }),
    OLLAMA_BASE_URLS: runtime.url,
    DEFAULT_MODELS: model,
    ENABLE_GATEWAY: "true",
    GATEWAY_PORT: "0",
    GATEWAY_ROOT: workspaces,
    ENABLE_IMAGE_GENERATION: "true",
    ENABLE_IMAGE_EDIT: "true",
    IMAGE_SIZE: "1024x1024",
    IMAGES_OPENAI_API_BASE_URL: upstream.url,
    IMAGES_OPENAI_API_KEY: "picture-key",
    AUDIO_TTS_ENGINE: "openai",
    AUDIO_TTS_OPENAI_API_BASE_URL: upstream.url,
    AUDIO_TTS_OPENAI_API_KEY: "key",
    AUDIO_STT_ENGINE: "openai",
    AUDIO_STT_OPENAI_API_BASE_URL: upstream.url,
    AUDIO_STT_OPENAI_API_KEY: "key",
    PLUGINS_PATH: fileURLToPath(new URL("plugins", import.meta.url)),
    WEBUI_NAME: "Millrace",
    ENABLE_SUBAGENTS: "true",
    SUBAGENTS_BACKGROUND_ENABLED: "true",
    SCIM_ENABLED: "true",
    SCIM_TOKEN: "token-of-the-provider",
  });
  const { token } = await post<{ token: string }>(server.url, "/api/v1/auths/signup", account);
  const make = async (chat: (typeof chats)[keyof typeof chats]) =>
    (await post<{ id: string }>(server.url, "/api/v1/chats/new", { chat: toChat(chat, model) }, token)).id;
  for (const title of otherTitles) {
    await make({ title, turns: chats.diagram.turns });
  }
  const made: Record<string, string> = {};
  for (const [name, chat] of Object.entries(chats)) {
    made[name] = await make(chat);
  }
  await post(server.url, `/api/v1/chats/${made["tools"]}/pin`, {}, token);
  const { share_id: share } = await post<{ share_id: string }>(
    server.url,
    `/api/v1/chats/${made["mill"]}/share`,
    {},
    token,
  );
  const anyone = { principal_type: "anyone", principal_id: "*", permission: "read" };
  await post(
    server.url,
    `/api/v1/chats/shared/${made["mill"]}/access/update`,
    { access_grants: [anyone] },
    token,
  );
  return {
    url: server.url,
    token,
    chats: made as World["chats"],
    share,
    workspaces,
    holdTranscription: () => upstream.reply(isTranscription, (exchange) => exchange.hold()),
    async close() {
      await server.stop();
      await Promise.all([upstream.close(), runtime.close()]);
      [data, workspaces].forEach((folder) => rmSync(folder, { recursive: true, force: true }));
    },
  };
}

/** The scripted models and the scripted engine of pictures. */
function answerAs(upstream: Upstream): void {
  upstream.models = [model, "miller-small", "river-reasoner", "stone-vision"];
  upstream.always("/chat/completions", (exchange) => {
    const body = exchange.request.body as {
      stream?: boolean;
      messages: { role: string; content: unknown }[];
    };
    if (body.stream && String(body.messages.at(-1)?.content).includes("Open the sluice")) {
      const wanted = { centimetres: 12, reason: "The stones run dry." };
      return sse(toolCallChunks([{ id: "call_1", name: "open_sluice", arguments: JSON.stringify(wanted) }]))(
        exchange,
      );
    }
    const delegating = body.stream ? toDelegating(body) : undefined;
    if (delegating !== undefined) {
      return delegating(exchange);
    }
    const asking = toAsking(String(body.messages.at(-1)?.content), body);
    if (body.stream && asking !== undefined) {
      return sse(toolCallChunks([asking]))(exchange);
    }
    const edit = body.stream ? toEdit(body) : undefined;
    if (edit !== undefined) {
      return edit(exchange);
    }
    const pieces = longAnswer.match(/\S+\s*/g) ?? [];
    return body.stream
      ? paced(pieces, { every: 25 })(exchange)
      : text('{"title": "Parts of a mill"}')(exchange);
  });
  upstream.always(
    ({ path }) => path.endsWith("/images/generations"),
    (exchange) => {
      const { prompt, size } = exchange.request.body as { prompt: string; size?: string };
      const [width = 512, height = 512] = (size ?? "").split("x").map((side) => Number(side) / 2);
      return json({ data: [{ b64_json: drawPicture(prompt, { width, height }).toString("base64") }] })(
        exchange,
      );
    },
  );
}

async function post<Answer>(url: string, path: string, body: object, token?: string): Promise<Answer> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  });
  if (!response.ok) {
    throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
  }
  return (await response.json()) as Answer;
}

/** A model that keeps a checklist, and asks before it goes on. */
function toAsking(last: string, { messages }: { messages: { content: unknown }[] }) {
  const isOurs = messages.some(({ content }) => String(content).includes("Plan the repair"));
  if (!isOurs) {
    return undefined;
  }
  const isStart = last.includes("Plan the repair");
  return isStart
    ? { id: "call_tasks", name: "create_tasks", arguments: JSON.stringify({ tasks: repairTasks }) }
    : last.includes("summary")
      ? { id: "call_ask", name: "ask_user", arguments: JSON.stringify({ questions: repairQuestions }) }
      : undefined;
}

const repairTasks = [
  { content: "Look at the wheel and the sluice", status: "completed" },
  { content: "Choose the wood for the new paddles", status: "in_progress" },
  { content: "Order the wood" },
  { content: "Paint the sluice gate", status: "cancelled" },
];

const repairQuestions = [
  {
    id: "wood",
    header: "Wood",
    question: "Which wood shall the new paddles be made of?",
    options: [
      { label: "Oak", description: "Lasts forty years in the water, and costs twice as much" },
      { label: "Larch", description: "Lasts fifteen years, and grows in the valley" },
    ],
  },
  {
    id: "when",
    header: "When",
    question: "When may the wheel stand still?",
    options: [{ label: "This week" }, { label: "After the harvest" }],
    allow_other: false,
  },
];
