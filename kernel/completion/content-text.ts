type Bag = Readonly<Record<string, unknown>>;

/** JSON texts of contents, by the message that they stand in. */
const texts = new WeakMap<object, string>();

/**
 * Notes that a message's content is known as JSON text, as it came out of the database: whoever sends the message on need
 * not write the content again. From then on the message cannot be changed in place.
 */
export function withContentText<M extends object>(message: M, text: string): Readonly<M> {
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
export function toRequestJson(body: Bag): string | Buffer {
  const { messages } = body;
  if (!Array.isArray(messages) || knownLength(messages) < shortest) {
    return JSON.stringify(body);
  }
  const { messages: _messages, ...rest } = body;
  const pieces = (messages as Bag[]).map((message) => Buffer.from(toText(message)));
  const head = Buffer.from(
    `${JSON.stringify(rest).slice(0, -1)}${Object.keys(rest).length > 0 ? "," : ""}"messages":[`,
  );
  const comma = Buffer.from(",");
  const all = pieces.flatMap((piece, at) => (at === 0 ? [piece] : [comma, piece]));
  return Buffer.concat([head, ...all, Buffer.from("]}")]);
}

function knownLength(messages: readonly unknown[]): number {
  return messages.reduce<number>((sum, message) => sum + (texts.get(message as object)?.length ?? 0), 0);
}

function toText(message: Bag): string {
  const known = texts.get(message);
  if (known === undefined) {
    return JSON.stringify(message);
  }
  const { content: _content, ...rest } = message;
  const text = JSON.stringify(rest);
  return `${text.slice(0, -1)}${text === "{}" ? "" : ","}"content":${known}}`;
}
