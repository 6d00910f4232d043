import type { Chunk } from "#kernel/completion/chunk.ts";
import type { StreamTranslator } from "#kernel/upstream/translated-events.ts";

/** The sequences that a request's `stop` names; empty for none. */
export function toStops(stop: unknown): string[] {
  return [stop ?? []].flat().filter((each): each is string => typeof each === "string" && each !== "");
}

/** A text before the first stop in it. */
export interface CutText {
  readonly kept: string;
  readonly stop: string;
}

/** Cuts a text at the first of `stops`; undefined where none of them is in it. */
export function cutAtStop(text: string, stops: readonly string[]): CutText | undefined {
  let first: { readonly at: number; readonly stop: string } | undefined;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at >= 0 && (first === undefined || at < first.at)) {
      first = { at, stop };
    }
  }
  return first && { kept: text.slice(0, first.at), stop: first.stop };
}

/**
 * Ends a stream at the first of `stops`, for upstreams whose format has no such wish: what could be the beginning of one
 * waits until it is known. The rest of the answer is given up, its usage with it.
 */
export class StoppedTranslator implements StreamTranslator {
  readonly #translator: StreamTranslator;
  readonly #stops: readonly string[];
  /** What may be the beginning of a stop, in the chunk that it came with. */
  #held: { readonly chunk: Chunk; readonly text: string } | undefined;
  #isStopped = false;

  constructor(translator: StreamTranslator, stops: readonly string[]) {
    this.#translator = translator;
    this.#stops = stops;
  }

  get isDone(): boolean {
    return this.#isStopped || this.#translator.isDone;
  }

  get isFinished(): boolean {
    return this.#isStopped || this.#translator.isFinished;
  }

  read(event: Record<string, unknown>, text: string): Chunk[] {
    const chunks: Chunk[] = [];
    for (const chunk of this.#translator.read(event, text)) {
      if (this.#isStopped) {
        break;
      }
      chunks.push(...this.#pass(chunk));
    }
    return chunks;
  }

  #pass(chunk: Chunk): Chunk[] {
    const delta = chunk.choices?.[0]?.delta;
    if (typeof delta?.content !== "string" || delta.content === "") {
      // Thoughts, calls and the end do not go on with a text: it is no stop that began before them.
      return [...this.#release(), chunk];
    }
    const text = (this.#held?.text ?? "") + delta.content;
    this.#held = undefined;
    const cut = cutAtStop(text, this.#stops);
    if (cut !== undefined) {
      this.#isStopped = true;
      return [...(cut.kept === "" ? [] : [withText(chunk, cut.kept)]), toEnd(chunk, cut.stop)];
    }
    const waiting = beginningOfStop(text, this.#stops);
    if (waiting > 0) {
      this.#held = { chunk, text: text.slice(-waiting) };
    }
    const said = text.slice(0, text.length - waiting);
    return said === "" ? [] : [withText(chunk, said)];
  }

  #release(): Chunk[] {
    const held = this.#held;
    this.#held = undefined;
    return held ? [withText(held.chunk, held.text)] : [];
  }
}

/** How many characters at the end of a text may be the beginning of a stop. */
function beginningOfStop(text: string, stops: readonly string[]): number {
  const longest = Math.max(...stops.map(({ length }) => length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length -= 1) {
    const end = text.slice(-length);
    if (stops.some((stop) => stop.length > length && stop.startsWith(end))) {
      return length;
    }
  }
  return 0;
}

function withText(chunk: Chunk, content: string): Chunk {
  return { ...chunk, choices: [{ index: 0, delta: { content }, finish_reason: null }] };
}

/** The sequence is named as other upstreams name it; the vendor's message format has a word for it. */
function toEnd(chunk: Chunk, stop: string): Chunk {
  return { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop", stop_reason: stop }] };
}
