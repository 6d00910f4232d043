import { jsonOf } from "#kernel/known-json.ts";

/** The arguments of a call as a JSON list in one line. What JSON has no word for becomes null, as lists have it. */
export function toArgumentsText(args: readonly unknown[]): string {
  return `[${args.map(toText).join(",")}]`;
}

/** Arguments as they cross with those of others. */
export interface ShortArguments {
  /** The JSON of each in one line, that of the first with an empty content for each message in `places`. */
  readonly texts: readonly string[];
  /** Of messages of the first argument, whose contents are in `contents`. */
  readonly places: readonly number[];
  readonly contents: readonly string[];
  /** Characters of all of it. */
  readonly length: number;
}

/**
 * The same as `toArgumentsText` gives, in parts: long contents of messages are apart, so that nobody has to write them as
 * JSON or to read them, on the way in and on the way back.
 */
export function toShortArguments(args: readonly unknown[]): ShortArguments {
  const places: number[] = [];
  const contents: string[] = [];
  const messages = toMessages(args[0]);
  messages?.forEach((message, place) => {
    const content = toContent(message);
    if (content !== undefined) {
      places.push(place);
      contents.push(content);
    }
  });
  const given =
    messages !== undefined && places.length > 0
      ? [withoutContents(args[0] as object, messages, places), ...args.slice(1)]
      : args;
  const texts = given.map(toText);
  return { texts, places, contents, length: lengthOf(texts) + lengthOf(contents) };
}

function withoutContents(first: object, messages: readonly unknown[], places: readonly number[]): object {
  const shortened = [...messages];
  for (const place of places) {
    shortened[place] = { ...(messages[place] as object), content: "" };
  }
  return { ...first, messages: shortened };
}

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

/** Shorter ones cost less in the text than by themselves. */
const longContent = 200;

function toMessages(value: unknown): readonly unknown[] | undefined {
  const messages = isObject(value) ? value["messages"] : undefined;
  return Array.isArray(messages) ? messages : undefined;
}

function toContent(message: unknown): string | undefined {
  const content = isObject(message) ? message["content"] : undefined;
  return typeof content === "string" && content.length >= longContent ? content : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function toText(value: unknown): string {
  return jsonOf(value) ?? JSON.stringify(value) ?? "null";
}
