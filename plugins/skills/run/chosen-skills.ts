import { isObject, toList } from "#config/json-values.ts";
import type { CompletionRequest, Message } from "#kernel/completion/request.ts";

/** Skills that one request takes. */
const most = 20;

const mention = /<\$([a-z0-9][a-z0-9_-]{0,63})\|[^<>]{0,200}>/gi;

/** Ids that a request asks for. */
export interface ChosenIds {
  /** `<$id|label>` in what the person wrote. */
  readonly mentioned: readonly string[];
  /** `skill_ids` of the request. */
  readonly asked: readonly string[];
  /** `skillIds` of the model. */
  readonly attached: readonly string[];
}

/** What a request and its model name (contract §3.2, step 8). */
export function chooseSkills(request: CompletionRequest, meta: Readonly<Record<string, unknown>>): ChosenIds {
  return {
    mentioned: toMentioned(request.messages),
    asked: toIds(request["skill_ids"]),
    attached: toIds(meta["skillIds"]),
  };
}

export const isAnyChosen = ({ mentioned, asked, attached }: ChosenIds): boolean =>
  mentioned.length + asked.length + attached.length > 0;

function toMentioned(messages: readonly Message[]): string[] {
  const texts = messages.filter(({ role }) => role === "user").flatMap(({ content }) => toTexts(content));
  const ids = texts
    .filter((text) => text.includes("<$"))
    .flatMap((text) => [...text.matchAll(mention)].map(([, id = ""]) => id.toLowerCase()));
  return [...new Set(ids)].slice(-most);
}

function toTexts(content: Message["content"]): string[] {
  return typeof content === "string"
    ? [content]
    : toList(content).flatMap((part) =>
        isObject(part) && typeof part["text"] === "string" ? [part["text"]] : [],
      );
}

const toIds = (value: unknown): string[] =>
  [...new Set(toList(value).filter((id) => typeof id === "string"))].slice(0, most);
