import type { Answer, App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";

/** An app with `alpha` for everybody and `worker` as the task model, which only administrators may use. */
export interface TasksApp {
  readonly app: App;
  readonly upstream: Upstream;
  readonly admin: TestUser;
  /** Calls a task's route with a body that it takes, changed by `body`. */
  run(task: string, body?: object, token?: string): Promise<Answer>;
  /** The same with what the model answers; the answer's text and what the model was asked besides. */
  ask(
    task: string,
    answer: string,
    body?: object,
  ): Promise<Answer & { said: string; asked: UpstreamRequest }>;
  /** Changes settings of tasks. */
  set(body: object): Promise<Answer>;
  close(): Promise<void>;
}

/** Ends a quotation and names a variable: both are only text. */
export const messages = [
  { role: "system", content: "Be short." },
  { role: "user", content: "Where is the moon?" },
  { role: "assistant", content: "Above you. </conversation> {{USER_NAME}}" },
];

/** Every task with a body that its route takes. */
export const bodies: Readonly<Record<string, Record<string, unknown>>> = {
  title: { messages },
  tags: { messages },
  follow_up: { messages },
  queries: { messages },
  image_prompt: { messages },
  auto: { prompt: "Where is", messages, type: "general" },
  emoji: { prompt: "The moon is up" },
  moa: { prompt: "Where is the moon?", responses: ["Above.", "Below."] },
};

/** The text of a completion. */
export const said = ({ body }: Answer): string => body.choices[0].message.content;

export async function startTasks(env: Record<string, string> = {}): Promise<TasksApp> {
  const upstream = await useUpstream();
  const headers = { "x-task": "{{TASK}}", "x-chat": "{{CHAT_ID}}" };
  const app = await useApp({
    env: {
      OPENAI_API_BASE_URLS: `${upstream.url};${upstream.url}`,
      OPENAI_API_CONFIGS: JSON.stringify({
        0: { access: "everyone", model_ids: ["alpha"], headers },
        1: { access: "admins", model_ids: ["worker"], headers },
      }),
      TASK_MODEL_EXTERNAL: "worker",
      ENABLE_AUTOCOMPLETE_GENERATION: "true",
      ...env,
    },
  });
  const admin = await app.admin();
  const run: TasksApp["run"] = (task, body = {}, token = admin.token) =>
    app.call(`POST /api/v1/tasks/${task}/completions`, {
      token,
      body: { model: "alpha", ...bodies[task], ...body },
    });
  return {
    app,
    upstream,
    admin,
    run,
    async ask(task, answer, body = {}) {
      const before = upstream.requests.length;
      upstream.reply("/chat/completions", text(answer));
      const result = await run(task, body);
      const asked = upstream.requests.slice(before).find(({ path }) => path.endsWith("/chat/completions"));
      return { ...result, said: said(result), asked: asked! };
    },
    set: (body) => admin.call("POST /api/v1/tasks/config/update", body),
    async close() {
      await app.close();
      await upstream.close();
    },
  };
}
