import type { Logger } from "#kernel/log.ts";
import type { Message } from "#kernel/completion/request.ts";
import type { ChatMessage, Chats, Replies } from "#plugins/chats/service.ts";
import type { EndedRun, RunFollowUp } from "#plugins/runs/service.ts";
import type { TaskSettings } from "./config.ts";
import { toTitle } from "./parse.ts";
import { type Tasks, toFirstWords, type TaskInput } from "./tasks.ts";
import { toTurns } from "./templates.ts";

export interface AfterRunOptions {
  readonly tasks: Tasks;
  readonly settings: TaskSettings;
  readonly chats: Pick<Chats, "branch" | "retitle" | "tag">;
  readonly replies: Pick<Replies, "suggest">;
  readonly log: Logger;
}

type TaskName = "follow_up_generation" | "title_generation" | "tags_generation";

/**
 * The tasks after a reply that has ended, in the order of contract §3.2 step 16: suggestions, a title, tags. Those of temporary
 * chats are sent to clients and not stored.
 */
export function createAfterRun({
  tasks,
  settings,
  chats,
  replies,
  log,
}: AfterRunOptions): readonly RunFollowUp[] {
  /** Runs a task that was asked for; a failure is logged only, for the reply is complete. */
  const attempt = async (ended: EndedRun, task: TaskName, run: () => Promise<void>) => {
    if (ended.request.background_tasks?.[task] !== true || ended.signal.aborted) {
      return;
    }
    try {
      await run();
    } catch (error) {
      if (!ended.signal.aborted) {
        log.warn({ err: error, task, chat: ended.chatId }, "a task beside a chat failed");
      }
    }
  };

  const followUps = (ended: EndedRun) =>
    attempt(ended, "follow_up_generation", async () => {
      const list = settings.followUps
        ? await tasks.followUps(toTaskInput(ended, await readMessages(ended, chats)))
        : [];
      ended.signal.throwIfAborted();
      if (list.length > 0 && (!ended.chat || (await replies.suggest(ended, list)))) {
        ended.emit("chat:message:follow_ups", { follow_ups: list });
      }
    });

  const title = (ended: EndedRun) =>
    attempt(ended, "title_generation", async () => {
      const opening = settings.title ? await findOpening(ended, chats) : undefined;
      if (opening === undefined) {
        return;
      }
      const input = toTaskInput(ended, opening);
      const found = await tasks.title(input).catch((error: unknown) => {
        ended.signal.throwIfAborted();
        log.warn({ err: error, chat: ended.chatId }, "no model gave a title; the first message is the title");
      });
      ended.signal.throwIfAborted();
      const chosen = found ?? toTitle(toFirstWords(input.messages));
      if (chosen !== "" && (!ended.chat || (await chats.retitle(ended.principal, ended.chatId, chosen)))) {
        ended.emit("chat:title", chosen);
      }
    });

  const tags = (ended: EndedRun) =>
    attempt(ended, "tags_generation", async () => {
      const opening = settings.tags ? await findOpening(ended, chats) : undefined;
      const names = opening ? await tasks.tags(toTaskInput(ended, opening)) : [];
      ended.signal.throwIfAborted();
      if (names.length > 0) {
        if (ended.chat) {
          await chats.tag(ended.principal, ended.chatId, names);
        }
        ended.emit("chat:tags", names);
      }
    });

  return [
    { order: 10, run: followUps },
    { order: 20, concerns: "chat", run: title },
    { order: 30, concerns: "chat", run: tags },
  ];
}

/** The first exchange of a chat, while there is no other: title and tags come from it, once. */
async function findOpening(ended: EndedRun, chats: Branches): Promise<readonly Message[] | undefined> {
  const said = ended.isFirst ? await readMessages(ended, chats, 4) : [];
  return said.filter(isUser).length === 1 && said.length < 4 ? said : undefined;
}

/**
 * The messages up to the reply: the stored ones, for those of the run may hold summaries, texts of files and calls of
 * tools.
 */
async function readMessages(
  { chat, chatId, messageId, conversation }: EndedRun,
  chats: Branches,
  limit?: number,
): Promise<readonly Message[]> {
  const stored = chat ? (await chats.branch(chatId, messageId, { limit })).map(toMessage) : [];
  return stored.some(isUser) ? stored : toTurns(conversation);
}

type Branches = Pick<Chats, "branch">;

function isUser({ role }: Message): boolean {
  return role === "user";
}

function toMessage({ role, content }: ChatMessage): Message {
  const isContent = typeof content === "string" || Array.isArray(content);
  return { role: String(role), content: isContent ? content : null };
}

function toTaskInput(ended: EndedRun, messages: readonly Message[]): TaskInput {
  const { principal, model, request, chatId, messageId, signal } = ended;
  const { variables, filter_ids: filterIds } = request;
  return {
    principal,
    model,
    messages,
    variables: variables ?? undefined,
    filterIds: filterIds ?? undefined,
    chatId,
    messageId,
    signal,
  };
}
