import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import type { Completion } from "#kernel/completion/chunk.ts";
import type { Message } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, type RequestInfo } from "#kernel/http/route.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { Completions } from "#plugins/completions/service.ts";
import type { Models } from "#plugins/models/service.ts";
import { seconds } from "#storage/clock.ts";
import type { TaskSettings } from "./config.ts";
import { mergeAnswers } from "./merge-answers.ts";
import { toTitle } from "./parse.ts";
import * as schema from "./schema.ts";
import { type Tasks, toFirstWords, type TaskInput } from "./tasks.ts";

export interface TaskRouteParts {
  readonly tasks: Tasks;
  readonly settings: TaskSettings;
  readonly models: Pick<Models, "resolve">;
  readonly chats: Pick<Chats, "require">;
  readonly completions: Completions;
}

type TaskBody = Pick<z.output<typeof schema.TaskRequest>, "model" | "chat_id" | "filter_ids"> & {
  readonly messages?: readonly Message[] | null | undefined;
  readonly prompt?: string | null | undefined;
  readonly type?: string | null | undefined;
};

interface Call<B> {
  readonly body: B;
  readonly caller: Principal;
  readonly request: RequestInfo;
}

const fails = [404, 429, 502, 504];

/**
 * Asking for one task beside a chat. Each answer is a completion of the common format whose text is what the table of
 * contract §3.7 says; nothing is stored.
 */
export function taskRoutes(parts: TaskRouteParts) {
  const { tasks, settings } = parts;
  const declare = <B extends z.ZodType<TaskBody>, const N extends string>(
    { name, summary, body }: { name: N; summary: string; body: B },
    answer: (
      call: Call<z.output<B>>,
      readInput: () => Promise<TaskInput>,
    ) => Promise<Completion | { detail: string }>,
  ) =>
    defineRoute(
      {
        method: "POST",
        path: `/tasks/${name}/completions`,
        summary,
        access: "user",
        body,
        returns: schema.TaskAnswer,
        fails,
      },
      (call) => answer(call as Call<z.output<B>>, () => toTaskInput(parts, call as Call<TaskBody>)),
    );

  const title = declare(
    { name: "title", summary: "Title a conversation", body: schema.TaskRequest },
    async ({ body }, readInput) => {
      if (!settings.title) {
        return { detail: "Title generation is disabled" };
      }
      const asked = await readInput();
      // A conversation has a title whatever the model says.
      const found = (await tasks.title(asked)) ?? toTitle(toFirstWords(asked.messages));
      return toCompletion(body.model, JSON.stringify({ title: found }));
    },
  );
  const tags = declare(
    { name: "tags", summary: "Tag a conversation", body: schema.TaskRequest },
    async ({ body }, readInput) =>
      settings.tags
        ? toCompletion(body.model, JSON.stringify({ tags: await tasks.tags(await readInput()) }))
        : { detail: "Tags generation is disabled" },
  );
  const followUps = declare(
    { name: "follow_up", summary: "Suggest what to say next", body: schema.TaskRequest },
    async ({ body }, readInput) =>
      settings.followUps
        ? toCompletion(body.model, JSON.stringify({ follow_ups: await tasks.followUps(await readInput()) }))
        : { detail: "Follow-up generation is disabled" },
  );
  const queries = declare(
    { name: "queries", summary: "Write search queries", body: schema.QueriesRequest },
    async ({ body }, readInput) => {
      if (!(body.type === "retrieval" ? settings.retrievalQueries : settings.searchQueries)) {
        throw new AppError("invalid", "Query generation is disabled");
      }
      return toCompletion(body.model, JSON.stringify({ queries: await tasks.queries(await readInput()) }));
    },
  );
  const imagePrompt = declare(
    { name: "image_prompt", summary: "Describe a picture to paint", body: schema.TaskRequest },
    async ({ body }, readInput) =>
      toCompletion(body.model, JSON.stringify({ prompt: await tasks.imagePrompt(await readInput()) })),
  );
  const auto = declare(
    { name: "auto", summary: "Continue what is being typed", body: schema.AutocompleteRequest },
    async ({ body }, readInput) => {
      const { autocomplete, autocompleteLength: most } = settings;
      if (!autocomplete) {
        throw new AppError("forbidden", "Autocomplete generation is disabled");
      }
      if (most >= 0 && body.prompt.length > most) {
        throw new AppError("invalid", `prompt is longer than ${most} characters.`);
      }
      return toCompletion(body.model, JSON.stringify({ text: await tasks.autocomplete(await readInput()) }));
    },
  );
  const emoji = declare(
    { name: "emoji", summary: "Find an emoji for a text", body: schema.EmojiRequest },
    async ({ body }, readInput) => toCompletion(body.model, await tasks.emoji(await readInput())),
  );
  return [title, tags, followUps, queries, imagePrompt, auto, emoji, moaRoute(parts)] as const;
}

function moaRoute({ completions }: TaskRouteParts) {
  return defineRoute(
    {
      method: "POST",
      path: "/tasks/moa/completions",
      summary: "Make one answer of several models' answers",
      access: "user",
      body: schema.MoaRequest,
      fails,
    },
    ({ body, caller, request }) =>
      mergeAnswers(
        completions,
        {
          ...body,
          chatId: body.chat_id ?? undefined,
          filterIds: body.filter_ids ?? undefined,
          stream: body.stream ?? false,
        },
        { principal: caller, signal: request.signal, userAgent: request.headers["user-agent"] },
      ),
  );
}

/** Throws `not_found` for models and chats that the caller has not. */
async function toTaskInput(
  { models, chats }: TaskRouteParts,
  { body, caller, request }: Call<TaskBody>,
): Promise<TaskInput> {
  const chatId = body.chat_id || undefined;
  // Temporary chats are not stored, so they have no owner.
  if (chatId !== undefined && !chatId.startsWith("temporary:")) {
    await chats.require(caller, chatId);
  }
  return {
    principal: caller,
    model: await models.resolve(caller, body.model),
    messages: body.messages ?? [],
    prompt: body.prompt ?? undefined,
    type: body.type ?? undefined,
    filterIds: body.filter_ids ?? undefined,
    chatId,
    signal: request.signal,
  };
}

function toCompletion(model: string, content: string): Completion {
  return {
    id: `chatcmpl-${randomUUID()}`,
    object: "chat.completion",
    created: seconds(),
    model,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  };
}
