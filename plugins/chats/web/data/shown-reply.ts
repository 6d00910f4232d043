import type { ShownReply } from "#plugins/web/kit/talked-chat.ts";
import { textOf } from "./reply.ts";
import type { ChatView } from "./types.ts";

/** A reply for plugins that read it aloud; every read is followed. */
export function toShownReply(chat: ChatView, id: string): ShownReply {
  return {
    id,
    get text() {
      const message = chat.message(id);
      return message ? textOf(message) : "";
    },
    get isWriting() {
      return chat.isWriting(id);
    },
    get failure() {
      return chat.message(id)?.error?.content;
    },
  };
}
