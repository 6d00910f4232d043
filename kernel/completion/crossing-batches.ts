import type { Chunk } from "./chunk.ts";
import type { ChunkBatch } from "./provider.ts";
import { isObject, normalizeChunk } from "./normalize-chunk.ts";
import { type Around, TextDeltaReader, TextDeltaWriter, textOf, withText } from "./text-delta.ts";

/**
 * Writes the batches of one stream for hooks in an isolate, and reads what comes back (`StreamChain.push`). One batch at
 * a time: what is read answers what was written last.
 */
export class CrossingBatches {
  readonly #writer = new TextDeltaWriter();
  readonly #reader = new TextDeltaReader();
  /** What the other side remembers, and what it was told to with the last batch. */
  #told: Around | undefined;
  #offered: Around | undefined;

  write(batch: ChunkBatch): string {
    this.#offered = this.#told;
    const [chunk] = batch;
    const around = batch.length === 1 && chunk ? this.#writer.around(chunk) : undefined;
    if (around === undefined) {
      return `[${batch.map((each) => this.#writer.write(each)).join(",")}]`;
    }
    const text = JSON.stringify(textOf(chunk as Chunk));
    if (around === this.#told) {
      return `*${text}`;
    }
    this.#offered = around;
    return `!${around.before}\t${text}\t${around.after}`;
  }

  /** The chunks of an answer, or of a batch that came back as it was. Throws when code made something else of them. */
  read(answer: string): Chunk[] {
    // One that came back as it was has passed the hooks by, and nothing of it was remembered.
    const hasPassed = answer.startsWith("!");
    this.#told = hasPassed ? this.#told : this.#offered;
    if (answer.startsWith("*")) {
      const text: unknown = JSON.parse(answer.slice(1));
      if (this.#told === undefined || typeof text !== "string") {
        throw new TypeError("A stream hook made something else of a text.");
      }
      return [withText(this.#told, text)];
    }
    const json = hasPassed ? `[${answer.slice(1).replaceAll("\t", "")}]` : answer;
    // A hook often makes the same change to every chunk.
    const known = this.#reader.read(json.slice(1, -1));
    if (known) {
      return [known];
    }
    const values = JSON.parse(json) as unknown[];
    if (!values.every(isObject)) {
      throw new TypeError("A stream hook made something else of a chunk.");
    }
    const chunks = values.map(normalizeChunk);
    if (chunks.length === 1) {
      this.#reader.learn(json.slice(1, -1), chunks[0] as Chunk);
    }
    return chunks;
  }
}
