import type { Message } from "#kernel/completion/request.ts";
import type { Hit } from "./search.ts";

/** An answer of the guide with the sections it quotes. */
export interface GuideAnswer {
  readonly text: string;
  readonly sources: readonly Source[];
}

/** A citation in the form that chat clients know (contract 3.4). */
export interface Source {
  readonly source: { readonly id: string; readonly name: string };
  readonly document: readonly string[];
  readonly metadata: readonly { readonly source: string; readonly name: string }[];
}

const introduction =
  "I am the built-in guide: no language model, but a search in this platform's own documentation.";

const connecting = [
  "To talk to a real model, connect an upstream that speaks the common chat format:",
  "",
  "- before the start, by variables: `OPENAI_API_BASE_URLS=https://your-provider/v1` and `OPENAI_API_KEYS=your-key`, or",
  '- while it runs, as an administrator: `POST /compat/config/update` with `{"OPENAI_API_BASE_URLS": ["https://your-provider/v1"], "OPENAI_API_KEYS": ["your-key"]}`.',
  "",
  "Its models then appear in `GET /api/models`.",
].join("\n");

const longestExcerpt = 900;

/** The text of the last user message, whose content may be a text or parts. */
export function findQuestion(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === "user");
  if (typeof last?.content === "string") {
    return last.content;
  }
  const parts = Array.isArray(last?.content) ? last.content : [];
  return parts.map((part) => (typeof part["text"] === "string" ? part["text"] : "")).join("\n");
}

/** Puts the best sections into one answer; every excerpt names the page it comes from. */
export function toAnswer(hits: readonly Hit[]): GuideAnswer {
  if (hits.length === 0) {
    return { text: `${introduction}\n\nI found nothing about that in it. ${connecting}`, sources: [] };
  }
  const parts = hits.map(
    ({ section }, at) => `**${section.heading}** [${at + 1}]\n\n${excerpt(section.text)}`,
  );
  const pages = hits.map(({ section }, at) => `[${at + 1}] ${section.page}`);
  const text = [
    introduction,
    "",
    ...parts.flatMap((part) => [part, ""]),
    pages.join("  \n"),
    "",
    "---",
    "",
    connecting,
  ].join("\n");
  return { text, sources: hits.map(({ section }) => toSource(section.page, section.heading, section.text)) };
}

function toSource(page: string, heading: string, text: string): Source {
  const name = `${page} › ${heading}`;
  return { source: { id: name, name }, document: [excerpt(text)], metadata: [{ source: page, name }] };
}

/** Whole paragraphs up to the limit; a single longer one is cut at a word. */
function excerpt(text: string): string {
  let taken = "";
  for (const paragraph of text.split(/\n{2,}/)) {
    if (taken !== "" && taken.length + paragraph.length > longestExcerpt) {
      break;
    }
    taken += `${taken === "" ? "" : "\n\n"}${paragraph}`;
  }
  if (taken.length <= longestExcerpt) {
    return taken;
  }
  const cut = taken.slice(0, longestExcerpt);
  // An open code fence would swallow the rest of the answer.
  const isOpen = (cut.match(/```/g)?.length ?? 0) % 2 === 1;
  return `${cut.slice(0, cut.lastIndexOf(" "))} …${isOpen ? "\n```" : ""}`;
}
