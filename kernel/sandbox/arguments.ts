import { jsonOf } from "#kernel/known-json.ts";

/** The arguments of a call as a JSON list in one line. What JSON has no word for becomes null, as lists have it. */
export function toArgumentsText(args: readonly unknown[]): string {
  return `[${args.map(toText).join(",")}]`;
}

/** Arguments as they cross with those of others. */
export interface ShortArguments {
  /** A JSON list in one line, with an empty content for each message in `places`. */
  readonly text: string;
  /** Of messages of the first argument, whose contents are in `contents`. */
  readonly places: readonly number[];
  readonly contents: readonly string[];
}

/**
 * The same as `toArgumentsText` gives, with long contents of messages apart: nobody has to write them as JSON, or to read
 * them. Where the JSON of the first argument is known, all is in the text.
 */
export function toShortArguments(args: readonly unknown[]): ShortArguments {
  const [first, ...others] = args;
  const messages = jsonOf(first) === undefined ? toMessages(first) : undefined;
  const places: number[] = [];
  const contents: string[] = [];
  messages?.forEach((message, place) => {
    const content = toContent(message);
    if (content !== undefined) {
      places.push(place);
      contents.push(content);
    }
  });
  if (messages === undefined || places.length === 0) {
    return { text: toArgumentsText(args), places, contents };
  }
  const shortened = [...messages];
  for (const place of places) {
    shortened[place] = { ...(messages[place] as object), content: "" };
  }
  return {
    text: toArgumentsText([{ ...(first as object), messages: shortened }, ...others]),
    places,
    contents,
  };
}

/** Characters of all of it. */
export function lengthOf({ text, contents }: ShortArguments): number {
  return contents.reduce((sum, content) => sum + content.length, text.length);
}

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
