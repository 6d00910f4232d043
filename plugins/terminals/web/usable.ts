import { server } from "#plugins/web/kit/server.ts";

export const readTerminals = async () => await server.call("GET /api/v1/terminals/");
export type UsableTerminal = Awaited<ReturnType<typeof readTerminals>>[number];

/** Whether a terminal may be used in a chat; undefined stands for one that is not saved. Core API, terminal entry. */
export function isUsable({ contexts }: UsableTerminal, chatId: string | undefined): boolean {
  const chat = contexts?.chat;
  return chat !== false && (chatId !== undefined || !chat || !("context_id" in chat));
}
