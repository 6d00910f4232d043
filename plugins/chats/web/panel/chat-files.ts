import type { Attachment } from "#plugins/web/kit/web.ts";
import { imageAddress } from "../messages/files.ts";
import type { ChatMessage } from "../data/types.ts";

/** A file of a chat, with the first message that holds it. */
export interface ChatFile {
  readonly key: string;
  readonly name: string;
  readonly messageId: string;
  readonly origin: "attached" | "generated";
  /** The stored file's id; undefined for collections, notes and pictures that stand in the message itself. */
  readonly id: string | undefined;
  /** Where its picture is, if it is one. */
  readonly picture: string | undefined;
  readonly type: string;
}

/** Files of all branches, each once, oldest first: those that people attached, and those that replies brought. */
export function chatFiles(messages: Iterable<ChatMessage>): readonly ChatFile[] {
  const found = new Map<string, ChatFile>();
  for (const message of [...messages].toSorted((a, b) => a.timestamp - b.timestamp)) {
    const origin = message.role === "user" ? "attached" : "generated";
    for (const file of [...(message.files ?? []), ...writtenFiles(message)]) {
      const known = toChatFile(file, { messageId: message.id, origin });
      if (!found.has(known.key)) {
        found.set(known.key, known);
      }
    }
  }
  return [...found.values()];
}

const marker = "/api/v1/files/";
const mostOfOneMessage = 200;

/** Files of the platform that the text of a reply shows or links. */
function writtenFiles({ role, content }: ChatMessage): Attachment[] {
  const files: Attachment[] = [];
  if (role === "user") {
    return files;
  }
  let at = content.indexOf(marker);
  while (at >= 0 && files.length < mostOfOneMessage) {
    const id = /^[\w-]{1,80}/.exec(content.slice(at + marker.length, at + marker.length + 80))?.[0];
    if (id) {
      const isPicture = content[content.lastIndexOf("[", at) - 1] === "!";
      files.push({ type: isPicture ? "image" : "file", id, name: "" });
    }
    at = content.indexOf(marker, at + marker.length);
  }
  return files;
}

function toChatFile(file: Attachment, place: Pick<ChatFile, "messageId" | "origin">): ChatFile {
  const picture = imageAddress(file);
  const written = picture?.startsWith(marker) ? picture.slice(marker.length).split("/", 1)[0] : undefined;
  const isStored = file.type === "file" || file.type === "image";
  const id = isStored ? file.id || written : undefined;
  return {
    key: id ?? `${file.type} ${file.id || picture || file.name}`,
    name: file.name ?? "",
    id,
    picture,
    type: file.type,
    ...place,
  };
}
