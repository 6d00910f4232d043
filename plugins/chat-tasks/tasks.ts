import type { Principal } from "#kernel/access/principal.ts";
import type { Message } from "#kernel/completion/request.ts";
import type { TemplateFacts } from "#plugins/models/service.ts";
import { AppError } from "#kernel/errors.ts";
import type { TaskModel } from "#plugins/completions/service.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import type { TaskSettings } from "./config.ts";
import * as parse from "./parse.ts";
import { fillTaskTemplate, namesPerson, toText } from "./template.ts";
import { builtIn, toFollowUpMessages, toQuoted, toTurns } from "./templates.ts";

/** The input of a task. */
export interface TaskInput {
  readonly principal: Principal;
  /** The model of the chat. */
  readonly model: ResolvedModel;
  readonly messages: readonly Message[];
  /** The person's own words; the last user message when left out. */
  readonly prompt?: string | undefined;
  readonly type?: string | undefined;
  /** `variables` of the request. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Filters that the person switched on. */
  readonly filterIds?: readonly string[] | undefined;
  readonly chatId: string | undefined;
  readonly messageId?: string | undefined;
  readonly signal: AbortSignal;
}

export interface TasksOptions {
  readonly taskModel: TaskModel;
  readonly settings: TaskSettings;
  findProfile(principal: Principal): Promise<Pick<TemplateFacts, "timeZone" | "user">>;
}

export type Tasks = ReturnType<typeof createTasks>;

interface TaskKind {
  /** As header templates name it. */
  readonly name: string;
  readonly builtIn: string;
  /** The operator's template; empty for the built-in one. */
  readonly own: string;
  /** The messages for the built-in template; the last six when left out. */
  pick?(turns: readonly Message[]): readonly Message[];
}

/** Most tokens of an answer where the task model's parameters set none (contract §3.7). */
const maxTokens = 1000;

/** Asks the task model for what is shown beside chats; every task throws like a model call and has a time limit. */
export function createTasks({ taskModel, settings, findProfile }: TasksOptions) {
  const ask = async (kind: TaskKind, input: TaskInput): Promise<string> => {
    const { principal, model, filterIds, chatId, messageId } = input;
    const isOwn = kind.own.trim() !== "";
    const template = isOwn ? kind.own : kind.builtIn;
    const variables = input.variables ?? {};
    const system =
      namesPerson(template) || Object.keys(variables).length > 0
        ? { now: new Date(), ...(await findProfile(principal)), variables }
        : undefined;
    const prompt = input.prompt ?? toPrompt(input.messages);
    const facts = isOwn
      ? { messages: input.messages, prompt }
      : { messages: toPromptMessages(kind, input.messages), prompt: toQuoted(prompt) };
    const content = fillTaskTemplate(template, { ...facts, type: input.type, system });
    const messages = [{ role: "user", content }];
    return await within(settings.timeout, input.signal, (signal) =>
      taskModel.ask({
        name: kind.name,
        model,
        messages,
        maxTokens,
        filterIds,
        principal,
        chatId,
        messageId,
        signal,
      }),
    );
  };

  return {
    /** Undefined when the answer holds no title. */
    async title(input: TaskInput): Promise<string | undefined> {
      const own = settings.titleTemplate;
      return parse.parseTitle(await ask({ name: "title_generation", builtIn: builtIn.title, own }, input));
    },

    async tags(input: TaskInput): Promise<string[]> {
      const own = settings.tagsTemplate;
      return parse.parseTags(await ask({ name: "tags_generation", builtIn: builtIn.tags, own }, input));
    },

    async followUps(input: TaskInput): Promise<string[]> {
      const kind = {
        name: "follow_up_generation",
        builtIn: builtIn.followUps,
        own: settings.followUpsTemplate,
      };
      return parse.parseFollowUps(await ask({ ...kind, pick: toFollowUpMessages }, input));
    },

    /** The user's own words where the answer holds no list; an empty list means that no search is needed. */
    async queries(input: TaskInput): Promise<string[]> {
      const own = settings.queryTemplate;
      const answer = await ask({ name: "query_generation", builtIn: builtIn.queries, own }, input);
      const query = parse.toQuery(input.prompt ?? toPrompt(input.messages));
      return parse.parseQueries(answer) ?? (query === "" ? [] : [query]);
    },

    /** The user's own words where the answer holds no description. */
    async imagePrompt(input: TaskInput): Promise<string> {
      const kind = {
        name: "image_prompt_generation",
        builtIn: builtIn.imagePrompt,
        own: settings.imagePromptTemplate,
      };
      return parse.parsePrompt(await ask(kind, input)) ?? input.prompt ?? toPrompt(input.messages);
    },

    /** The continuation of the prompt; empty for none. */
    async autocomplete(input: TaskInput): Promise<string> {
      const kind = { name: "autocomplete_generation", builtIn: builtIn.autocomplete };
      return parse.parseCompletion(await ask({ ...kind, own: settings.autocompleteTemplate }, input));
    },

    /** Empty when the answer holds none. */
    async emoji(input: TaskInput): Promise<string> {
      return parse.parseEmoji(
        await ask({ name: "emoji_generation", builtIn: builtIn.emoji, own: "" }, input),
      );
    },
  };
}

/** The last user message. */
export function toPrompt(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === "user");
  return last ? toText(last) : "";
}

/** The first user message: the title of a chat where no model gives one. */
export function toFirstWords(messages: readonly Message[]): string {
  return (
    messages
      .filter(({ role }) => role === "user")
      .map(toText)
      .find((text) => text.trim() !== "") ?? ""
  );
}

function toPromptMessages(
  { pick = (turns) => turns.slice(-6) }: TaskKind,
  messages: readonly Message[],
): Message[] {
  return pick(toTurns(messages)).map((message) => ({
    role: message.role,
    content: toQuoted(toText(message)),
  }));
}

/** Limits the time of a task: an endless answer must not hold up the run or the upstream. */
async function within<T>(
  seconds: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = AbortSignal.timeout(seconds * 1000);
  try {
    return await run(AbortSignal.any([signal, limit]));
  } catch (error) {
    if (limit.aborted && !signal.aborted) {
      throw new AppError("timeout", "The model did not answer in time.", { cause: error });
    }
    throw error;
  }
}
