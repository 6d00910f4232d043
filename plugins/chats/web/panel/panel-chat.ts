import type { PanelChat } from "#plugins/web/kit/web.ts";
import type { ChatView } from "../data/types.ts";

/** An open chat for panels of other plugins; every read is followed. */
export function toPanelChat(chat: ChatView): PanelChat {
  return {
    get id() {
      return chat.id;
    },
    get isTemporary() {
      return chat.isTemporary;
    },
    get canWrite() {
      return chat.canWrite;
    },
    get terminalId() {
      return chat.tools.terminalId;
    },
    setTerminal: (terminalId) => chat.setTools({ ...chat.tools, terminalId }),
  };
}
