import type { Principal } from "#kernel/access/principal.ts";
import type { Message } from "#kernel/completion/request.ts";
import type { TemplateFacts } from "#kernel/completion/template.ts";
import { AppError } from "#kernel/errors.ts";
import type { TaskModel } from "#plugins/completions/service.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import type { TaskSettings } from "./config.ts";
import * as parse from "./parse.ts";
import { fillTaskTemplate, namesPerson, toText } from "./template.ts";
import { builtIn, toFollowUpMessages, toQuoted, toTurns } from "./templates.ts";

/** What a task works on. */
export interface Work {
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

interface Kind {
  /** As header templates name it. */
  readonly name: string;
  readonly builtIn: string;
  /** The operator's template; empty for the built-in one. */
  readonly own: string;
  /** What the built-in template gets of what was said; the last six when left out. */
  pick?(turns: readonly Message[]): readonly Message[];
}

/** Most tokens of an answer where the task model's parameters set none (contract §3.7). */
const maxTokens = 1000;

/** Asks the task model for what is shown beside chats; every task throws like a model call and has a time limit. */
export function createTasks({ taskModel, settings, findProfile }: TasksOptions) {
  const ask = async (kind: Kind, work: Work): Promise<string> => {
    const { principal, model, filterIds, chatId, messageId } = work;
    const isOwn = kind.own.trim() !== "";
    const template = isOwn ? kind.own : kind.builtIn;
    const variables = work.variables ?? {};
    const system =
      namesPerson(template) || Object.keys(variables).length > 0
        ? { now: new Date(), ...(await findProfile(principal)), variables }
        : undefined;
    const prompt = work.prompt ?? toPrompt(work.messages);
    const facts = isOwn
      ? { messages: work.messages, prompt }
      : { messages: toMaterial(kind, work.messages), prompt: toQuoted(prompt) };
    const content = fillTaskTemplate(template, { ...facts, type: work.type, system });
    const messages = [{ role: "user", content }];
    return await within(settings.timeout, work.signal, (signal) =>
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
    async title(work: Work): Promise<string | undefined> {
      const own = settings.titleTemplate;
      return parse.parseTitle(await ask({ name: "title_generation", builtIn: builtIn.title, own }, work));
    },

    async tags(work: Work): Promise<string[]> {
      const own = settings.tagsTemplate;
      return parse.parseTags(await ask({ name: "tags_generation", builtIn: builtIn.tags, own }, work));
    },

    async followUps(work: Work): Promise<string[]> {
      const kind = {
        name: "follow_up_generation",
        builtIn: builtIn.followUps,
        own: settings.followUpsTemplate,
      };
      return parse.parseFollowUps(await ask({ ...kind, pick: toFollowUpMessages }, work));
    },

    /** The user's own words where the answer holds no list; an empty list means that no search is needed. */
    async queries(work: Work): Promise<string[]> {
      const own = settings.queryTemplate;
      const answer = await ask({ name: "query_generation", builtIn: builtIn.queries, own }, work);
      const query = parse.toQuery(work.prompt ?? toPrompt(work.messages));
      return parse.parseQueries(answer) ?? (query === "" ? [] : [query]);
    },

    /** The user's own words where the answer holds no description. */
    async imagePrompt(work: Work): Promise<string> {
      const kind = {
        name: "image_prompt_generation",
        builtIn: builtIn.imagePrompt,
        own: settings.imagePromptTemplate,
      };
      return parse.parsePrompt(await ask(kind, work)) ?? work.prompt ?? toPrompt(work.messages);
    },

    /** What goes on behind the prompt, empty for nothing. */
    async autocomplete(work: Work): Promise<string> {
      const kind = { name: "autocomplete_generation", builtIn: builtIn.autocomplete };
      return parse.parseCompletion(await ask({ ...kind, own: settings.autocompleteTemplate }, work));
    },

    /** Empty when the answer holds none. */
    async emoji(work: Work): Promise<string> {
      return parse.parseEmoji(await ask({ name: "emoji_generation", builtIn: builtIn.emoji, own: "" }, work));
    },
  };
}

/** What somebody wrote last. */
export function toPrompt(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === "user");
  return last ? toText(last) : "";
}

/** What somebody wrote first: the title of a chat that no model gives one. */
export function toFirstWords(messages: readonly Message[]): string {
  return (
    messages
      .filter(({ role }) => role === "user")
      .map(toText)
      .find((text) => text.trim() !== "") ?? ""
  );
}

function toMaterial({ pick = (turns) => turns.slice(-6) }: Kind, messages: readonly Message[]): Message[] {
  return pick(toTurns(messages)).map((message) => ({
    role: message.role,
    content: toQuoted(toText(message)),
  }));
}

/** A model that does not come to an end must hold up neither the run nor a slot of the upstream. */
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
