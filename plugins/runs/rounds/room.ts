import { firstChoice } from "#kernel/completion/accumulate.ts";
import type { Chunk, Delta } from "#kernel/completion/chunk.ts";
import { toContent } from "#kernel/completion/reply-text.ts";
import { AppError } from "#kernel/errors.ts";
import type { OutputItem } from "../reply/items.ts";

/** Characters of one reply: a picture of 24 MB in base64. More can neither be stored in a row nor shown by a browser. */
export const mostCharacters = 32 * 1024 * 1024;

const tooLarge = `The reply grew beyond ${mostCharacters / 2 ** 20} MB and was ended here; what came before is kept.`;

/** What one reply may still take in: an upstream that never ends must not fill the memory. */
export class ReplyRoom {
  #left: number;
  #isFull = false;

  constructor(items: readonly OutputItem[], most = mostCharacters) {
    this.#left = most - toContent(items).length;
  }

  /** The chunk as it is, or with its texts cut to what there is room for. */
  fit(chunk: Chunk): Chunk {
    const choice = firstChoice(chunk.choices);
    const size = choice?.delta ? sizeOf(choice.delta) : 0;
    if (choice?.delta === undefined || size <= this.#left) {
      this.#left -= size;
      return chunk;
    }
    this.#isFull = true;
    // Half a call is no call, and half of what a provider wants back is refused by it.
    const { tool_calls: _calls, reasoning_details: _details, ...delta } = choice.delta;
    const cut = Object.fromEntries(
      Object.entries(delta).map(([key, value]) => [
        key,
        typeof value === "string" ? this.#take(value) : value,
      ]),
    );
    return { ...chunk, choices: [{ ...choice, delta: cut }] };
  }

  /** Throws `upstream` where something was cut off. */
  check(): void {
    if (this.#isFull) {
      throw new AppError("upstream", tooLarge);
    }
  }

  #take(text: string): string {
    const taken = text.slice(0, Math.max(this.#left, 0));
    this.#left -= taken.length;
    return taken;
  }
}

/** Characters that a delta adds, as far as they are kept. */
function sizeOf({ content, refusal, reasoning, reasoning_content, tool_calls, ...rest }: Delta): number {
  const texts = [content, refusal, reasoning_content ?? reasoning].map((text) =>
    typeof text === "string" ? text.length : 0,
  );
  const calls = (tool_calls ?? []).map(({ function: called }) => {
    const pieces: unknown = called?.arguments;
    return typeof pieces === "string" ? pieces.length : 0;
  });
  const details = rest["reasoning_details"];
  const extra = Array.isArray(details) ? JSON.stringify(details).length : 0;
  return [...texts, ...calls].reduce((sum, length) => sum + length, extra);
}
