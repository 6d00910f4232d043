import { SegmentedBody } from "#kernel/egress/segmented-body.ts";
import type { ExactNumbers } from "./exact-numbers.ts";

type Bag = Readonly<Record<string, unknown>>;

/** Contents as JSON in UTF-8, by the message that they stand in. */
const texts = new WeakMap<object, Buffer>();

/**
 * Notes that a message's content is known as JSON, as it came out of the database: whoever sends the message on need
 * not write the content again. From then on the message cannot be changed in place.
 */
export function withContentText<M extends object>(message: M, text: Buffer): Readonly<M> {
  texts.set(message, text);
  return Object.freeze(message);
}

/** The same content in another message: it keeps its text. */
export function withContentOf<M extends { readonly content?: unknown }>(
  message: M,
  source: Bag,
): Readonly<M> {
  const text = texts.get(source);
  return text === undefined || message.content !== source["content"]
    ? message
    : withContentText(message, text);
}

/** A shorter body is written faster in one go. */
const shortest = 256 * 1024;

/**
 * The JSON of a request's body. That of a long conversation is put together from texts that are known: writing forty
 * megabytes anew would stop everything else for a moment.
 */
export function toRequestJson(sent: Bag, numbers?: ExactNumbers): string | SegmentedBody {
  const body = numbers ? numbers.restore(sent) : sent;
  const { messages } = body;
  if (!Array.isArray(messages) || knownLength(messages) < shortest) {
    return JSON.stringify(body);
  }
  const { messages: _messages, ...rest } = body;
  const head = `${JSON.stringify(rest).slice(0, -1)}${Object.keys(rest).length > 0 ? "," : ""}"messages":[`;
  const pieces = (messages as Bag[]).flatMap((message, at) => toPieces(at === 0 ? head : ",", message));
  return new SegmentedBody([...pieces, Buffer.from("]}")]);
}

function knownLength(messages: readonly unknown[]): number {
  return messages.reduce<number>((sum, message) => sum + (texts.get(message as object)?.length ?? 0), 0);
}

function toPieces(before: string, message: Bag): Buffer[] {
  const known = texts.get(message);
  if (known === undefined) {
    return [Buffer.from(`${before}${JSON.stringify(message)}`)];
  }
  const { content: _content, ...rest } = message;
  const text = JSON.stringify(rest);
  return [Buffer.from(`${before}${text.slice(0, -1)}${text === "{}" ? "" : ","}"content":`), known, end];
}

const end = Buffer.from("}");
