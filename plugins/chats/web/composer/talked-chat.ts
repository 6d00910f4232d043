import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { TalkedChat } from "#plugins/web/kit/talked-chat.ts";
import { toShownReply } from "../data/shown-reply.ts";
import { models } from "../picker/models.svelte.ts";
import type { Composer } from "./composer.svelte.ts";

/** The chat of a composer, for plugins that talk in it. */
export function toTalkedChat(composer: Composer): TalkedChat {
  const { chat } = composer;
  return {
    get isRunning() {
      return chat.isRunning;
    },
    get isAsking() {
      return chat.approvals.length > 0 || chat.questions.length > 0;
    },
    get lastReply() {
      const id = chat.branchIds.findLast((one) => chat.message(one)?.role === "assistant");
      return id === undefined ? undefined : toShownReply(chat, id);
    },
    async say(text) {
      if (!chat.canWrite || chat.models.length === 0) {
        throw new Error(t("There is no model to talk to. Choose one first."));
      }
      models.remember(chat.models);
      composer.failure = undefined;
      await chat.send({ text, files: [], models: chat.models, tools: chat.tools, isSpoken: true });
      const reason = chat.refusal?.reason ?? composer.failure;
      if (reason !== undefined) {
        throw new Error(reason);
      }
    },
    stop: () => composer.stop(),
  };
}
