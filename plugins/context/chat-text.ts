import type { Principal } from "#kernel/access/principal.ts";
import type { ChatMessage, Chats } from "#plugins/chats/service.ts";
import type { WholeText } from "./sources.ts";

/** The shown branch of a chat of the caller's, as one text. Throws `not_found` for other people's chats. */
export async function chatText(
  chats: Pick<Chats, "require" | "branch">,
  principal: Principal,
  id: string,
): Promise<WholeText> {
  const { title, current_message_id: leaf } = await chats.require(principal, id);
  const branch = leaf === null ? [] : await chats.branch(id, leaf);
  const content = branch.map(toTurn).filter(Boolean).join("\n\n");
  return { id, type: "chat", name: title, content, isCut: false };
}

function toTurn({ role, content }: ChatMessage): string {
  const said =
    typeof content === "string"
      ? content
      : Array.isArray(content)
        ? content
            .map((part) => (part as { text?: unknown } | null)?.text)
            .filter((text) => typeof text === "string")
            .join("\n")
        : "";
  return said.trim() === "" ? "" : `${role === "user" ? "User" : "Assistant"}: ${said.trim()}`;
}
