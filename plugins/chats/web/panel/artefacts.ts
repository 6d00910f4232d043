import type { PreviewedDocument } from "#plugins/web/kit/stores/preview.svelte.ts";
import type { ChatMessage } from "../data/types.ts";

/** A document that a reply wrote, as one of the chat's versions of it. */
export interface Artefact {
  readonly messageId: string;
  readonly language: string;
  readonly source: string;
}

const shown = new Set(["html", "svg"]);

/** Documents of one language in the replies of a chat, oldest first; one that was written again unchanged comes once. */
export function artefactsOf(messages: Iterable<ChatMessage>, language: string): readonly Artefact[] {
  const replies = [...messages]
    .filter(({ role }) => role === "assistant")
    .toSorted((a, b) => a.timestamp - b.timestamp);
  const found = new Map<string, Artefact>();
  for (const { id, content } of replies) {
    for (const fence of fencesOf(content)) {
      if (fence.language === language && !found.has(fence.source)) {
        found.set(fence.source, { messageId: id, ...fence });
      }
    }
  }
  return [...found.values()];
}

/** Closed fences of documents that can be previewed, read line by line. */
export function fencesOf(text: string): readonly Omit<Artefact, "messageId">[] {
  const fences: Omit<Artefact, "messageId">[] = [];
  let open: { mark: string; language: string; lines: string[] } | undefined;
  for (const line of text.split("\n")) {
    const trimmed = line.trimStart();
    const mark = leadOf(trimmed);
    if (!open) {
      const language = trimmed.slice(mark.length).trim().split(" ", 1)[0]?.toLowerCase() ?? "";
      open = mark.length >= 3 ? { mark, language, lines: [] } : undefined;
    } else if (mark.length >= open.mark.length && mark[0] === open.mark[0] && trimmed.trimEnd() === mark) {
      if (shown.has(open.language)) {
        fences.push({ language: open.language, source: open.lines.join("\n") });
      }
      open = undefined;
    } else {
      open.lines.push(line);
    }
  }
  return fences;
}

/** The backticks or tildes that a line begins with. */
function leadOf(line: string): string {
  const [sign] = line;
  if (sign !== "`" && sign !== "~") {
    return "";
  }
  let length = 1;
  while (line[length] === sign) {
    length += 1;
  }
  return sign.repeat(length);
}

/** The version in the shape that the panel shows. */
export function toDocument({ language, source }: Artefact, title: string): PreviewedDocument {
  const rest = { title, source, language };
  return language === "svg" ? { ...rest, svg: source } : { ...rest, html: source };
}
