import type { Chunk, ChunkChoice } from "#kernel/completion/chunk.ts";

// P2, P8 (paced and burst CPU of streamed completions): most chunks of a stream differ from the one before in nothing but
// their text. Both classes keep the JSON around the text; only other chunks are parsed or written whole.

/** Reads the chunks of one stream. */
export class TextDeltaReader {
  #template: ChunkTemplate | undefined;
  #misses = 0;

  /** The chunk in `text` when it is like the one learned last; undefined when it has to be parsed. */
  read(text: string): Chunk | undefined {
    if (this.#template === undefined || text.length > longest) {
      return undefined;
    }
    const { before, after, chunk, choice } = this.#template;
    const end = text.length - after.length;
    // Slices are compared five times as fast as startsWith and endsWith do it.
    if (end < before.length || text.slice(0, before.length) !== before || text.slice(end) !== after) {
      return undefined;
    }
    const content = toContent(text.slice(before.length, end));
    if (content === undefined) {
      return undefined;
    }
    this.#misses = 0;
    return withText({ chunk, choice }, content);
  }

  /** Learns from a chunk that had to be parsed, for as long as that proves to be of use. */
  learn(text: string, chunk: Chunk): void {
    const choice = toTextChoice(chunk);
    const learns = choice !== undefined && this.#misses < mostMisses && text.length <= longest;
    if (learns && isPlain(chunk, choice)) {
      this.#misses += 1;
      this.#template = findTemplate(text, { chunk: { ...chunk }, choice: { ...choice } });
    }
  }
}

/** Writes the chunks of one stream as JSON. */
export class TextDeltaWriter {
  #template: ChunkTemplate | undefined;
  /** Of the chunk that `#template` is from: what the next ones are compared with. */
  #fields: Fields | undefined;
  #choiceFields: Fields | undefined;
  #misses = 0;

  write(chunk: Chunk): string {
    const template = this.#templateOf(chunk);
    return template === undefined
      ? JSON.stringify(chunk)
      : template.before + JSON.stringify(textOf(chunk)) + template.after;
  }

  /** The template of a chunk; undefined for one that has none. */
  #templateOf(chunk: Chunk): ChunkTemplate | undefined {
    const choice = toTextChoice(chunk);
    if (choice === undefined) {
      return undefined;
    }
    const [fields, choiceFields] = [this.#fields, this.#choiceFields];
    if (
      fields &&
      choiceFields &&
      isAlike(chunk, fields, "choices") &&
      isAlike(choice, choiceFields, "delta")
    ) {
      this.#misses = 0;
      return this.#template;
    }
    if (this.#misses >= mostMisses || !isPlain(chunk, choice)) {
      return undefined;
    }
    this.#misses += 1;
    this.#fields = toFields(chunk);
    this.#choiceFields = toFields(choice);
    this.#template = split({ chunk: { ...chunk }, choice: { ...choice } });
    return this.#template;
  }
}

/** Some upstreams put something new into every chunk; learning in vain costs more than parsing. */
const mostMisses = 8;
/** Characters of a chunk that is compared: matching megabytes, as of a picture, would overflow the stack of the matcher. */
const longest = 64 * 1024;

/** Stands for the text while its surroundings are looked for. Plain ASCII: what it touches must stay one byte a character. */
const mark = "~~the text of a chunk~~";

/** A chunk that others are like, and its choice: all fields but the choices, the delta and the text are plain. */
type Model = Pick<ChunkTemplate, "chunk" | "choice">;

/** The JSON before and after the text of a chunk. The reader's `before` ends with the opening quote, the writer's before it. */
interface ChunkTemplate {
  readonly chunk: Chunk;
  readonly choice: ChunkChoice;
  readonly before: string;
  readonly after: string;
}

/** The only choice of a chunk that has text and nothing else; undefined for other chunks. */
function toTextChoice({ choices }: Chunk): ChunkChoice | undefined {
  const choice = choices?.length === 1 ? choices[0] : undefined;
  if (choice === undefined || typeof choice.delta?.content !== "string") {
    return undefined;
  }
  for (const key in choice.delta) {
    if (key !== "content") {
      return undefined;
    }
  }
  return choice;
}

/** Objects could be shared by chunks, and what a filter does to one must not show in the next. */
function isPlain(chunk: Chunk, choice: ChunkChoice): boolean {
  return isFlat(chunk, "choices") && isFlat(choice, "delta");
}

function isFlat(value: Readonly<Record<string, unknown>>, except: string): boolean {
  for (const key in value) {
    const field = value[key];
    if (typeof field === "object" && field !== null && key !== except) {
      return false;
    }
  }
  return true;
}

/** Names and values of an object, in their order. */
interface Fields {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
}

function toFields(value: object): Fields {
  return { names: Object.keys(value), values: Object.values(value) };
}

/** Whether it has the same fields in the same order. The values of `fields` are plain, so those of `value` are as well. */
function isAlike(
  value: Readonly<Record<string, unknown>>,
  { names, values }: Fields,
  except: string,
): boolean {
  let at = 0;
  for (const name in value) {
    if (name !== names[at] || (value[name] !== values[at] && name !== except)) {
      return false;
    }
    at += 1;
  }
  return at === names.length;
}

function toContent(raw: string): string | undefined {
  // oxlint-disable-next-line no-control-regex
  if (/^[^"\\\u0000-\u001F]*$/.test(raw)) {
    return raw;
  }
  try {
    // Fails for a quote that ends the text early, so that nothing but one string gets through.
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined;
  }
}

/** Looks the text up in what the upstream wrote, and proves by parsing that nothing else was found. */
function findTemplate(text: string, model: Model): ChunkTemplate | undefined {
  const found = /"content"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text);
  if (found === null) {
    return undefined;
  }
  const end = found.index + found[0].length - 1;
  const before = text.slice(0, end - (found[1] as string).length);
  const after = text.slice(end);
  const isProven = tryParse(`${before}${mark}${after}`) === JSON.stringify(withText(model, mark));
  return isProven ? { before, after, ...model } : undefined;
}

function tryParse(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function split(model: Model): ChunkTemplate | undefined {
  const [before, after, more] = JSON.stringify(withText(model, mark)).split(JSON.stringify(mark));
  return before === undefined || after === undefined || more !== undefined
    ? undefined
    : { before, after, ...model };
}

/** The text of a chunk that has one choice and text. */
function textOf({ choices }: Chunk): string {
  return choices?.[0]?.delta?.content as string;
}

/** A chunk that is like another one but for its text. */
function withText({ chunk, choice }: Model, content: string): Chunk {
  return { ...chunk, choices: [{ ...choice, delta: { content } }] };
}
