import type { Logger } from "#kernel/log.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { EndedRun, RunFollowUp } from "#plugins/runs/service.ts";
import type { TaskSettings } from "./config.ts";
import { toTitle } from "./parse.ts";
import { type Tasks, toFirstWords, type Work } from "./tasks.ts";
import { toTurns } from "./templates.ts";

export interface AfterRunOptions {
  readonly tasks: Tasks;
  readonly settings: TaskSettings;
  readonly chats: Pick<Chats, "suggest" | "retitle" | "tag">;
  readonly log: Logger;
}

type AskedTask = "follow_up_generation" | "title_generation" | "tags_generation";

/**
 * What a finished reply is followed by, in the order of contract §3.2 step 16: suggestions, a title, tags. Temporary
 * chats are told them and nothing is stored.
 */
export function createAfterRun({ tasks, settings, chats, log }: AfterRunOptions): readonly RunFollowUp[] {
  /** Failures stay here: the reply is complete, and nobody waits for its trimmings. */
  const attempt = async (ended: EndedRun, task: AskedTask, run: () => Promise<void>) => {
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
      const list = settings.followUps ? await tasks.followUps(toWork(ended)) : [];
      ended.signal.throwIfAborted();
      if (list.length > 0) {
        if (ended.chat) {
          await chats.suggest(ended, list);
        }
        ended.emit("chat:message:follow_ups", { follow_ups: list });
      }
    });

  const title = (ended: EndedRun) =>
    attempt(ended, "title_generation", async () => {
      if (!settings.title || !isOpening(ended)) {
        return;
      }
      const work = toWork(ended);
      const found = await tasks.title(work).catch((error: unknown) => {
        ended.signal.throwIfAborted();
        log.warn({ err: error, chat: ended.chatId }, "no model gave a title; the first message is the title");
      });
      ended.signal.throwIfAborted();
      const chosen = found ?? toTitle(toFirstWords(work.messages));
      if (chosen !== "" && (!ended.chat || (await chats.retitle(ended.principal, ended.chatId, chosen)))) {
        ended.emit("chat:title", chosen);
      }
    });

  const tags = (ended: EndedRun) =>
    attempt(ended, "tags_generation", async () => {
      const names = settings.tags && isOpening(ended) ? await tasks.tags(toWork(ended)) : [];
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
    { order: 20, run: title },
    { order: 30, run: tags },
  ];
}

/** What concerns the chat as a whole is found out once, from the first question and its first reply. */
function isOpening({ isFirst, conversation }: EndedRun): boolean {
  return isFirst && toTurns(conversation).filter(({ role }) => role === "user").length === 1;
}

function toWork({ principal, model, request, conversation, chatId, messageId, signal }: EndedRun): Work {
  const variables = request.variables ?? undefined;
  return { principal, model, messages: toTurns(conversation), variables, chatId, messageId, signal };
}
