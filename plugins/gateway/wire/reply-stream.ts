import type { RunListener } from "../agent/listeners.ts";

/** What a client is told of a reply. */
export type Part = { readonly kind: "content" | "reasoning"; readonly text: string };

/** Idle time after which a stream is closed (document 2, Limits 3), and how often a silent one gets a comment. */
export interface StreamTimes {
  readonly idleMs: number;
  readonly commentMs: number;
}

export const streamTimes: StreamTimes = { idleMs: 300_000, commentMs: 15_000 };

/** Gathers what an agent writes, and gives it out as it comes. */
export class ReplyStream implements RunListener {
  readonly #waiting: Part[] = [];
  readonly #began = Promise.withResolvers<void>();
  #wake = () => {};
  #isOver = false;
  #content = "";
  #breaks = false;

  /** Resolves when the agent has begun. */
  get hasBegun(): Promise<void> {
    return this.#began.promise;
  }

  /** All text of the reply. */
  get content(): string {
    return this.#content;
  }

  began(): void {
    this.#began.resolve();
  }

  text(text: string): void {
    // What is said after a tool's work begins a paragraph of its own.
    const piece = this.#breaks && this.#content !== "" ? `\n\n${text}` : text;
    this.#breaks = false;
    this.#content += piece;
    this.#push({ kind: "content", text: piece });
  }

  reasoning(text: string): void {
    this.#push({ kind: "reasoning", text });
  }

  tool(title: string, subject: string): void {
    this.#breaks = true;
    this.#push({ kind: "reasoning", text: `\n[${subject === "" ? title : `${title}: ${subject}`}]\n` });
  }

  /** Nothing comes any more. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  #push(part: Part): void {
    this.#waiting.push(part);
    this.#wake();
  }

  /** The parts as they come; "comment" while the agent is silent, and "idle" as the last one when it was so too long. */
  async *parts({ idleMs, commentMs }: StreamTimes): AsyncGenerator<Part | "comment" | "idle"> {
    let heardAt = Date.now();
    for (;;) {
      const part = this.#waiting.shift();
      if (part !== undefined) {
        heardAt = Date.now();
        yield part;
        continue;
      }
      if (this.#isOver) {
        return;
      }
      const left = heardAt + idleMs - Date.now();
      if (left <= 0) {
        yield "idle";
        return;
      }
      if (!(await this.#change(Math.min(left, commentMs))) && Date.now() - heardAt < idleMs) {
        yield "comment";
      }
    }
  }

  /** Resolves to false when nothing comes within `ms`. */
  async #change(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const woken = new Promise<boolean>((resolve) => {
      this.#wake = () => resolve(true);
      timer = setTimeout(() => resolve(false), ms);
    });
    return await woken.finally(() => clearTimeout(timer));
  }
}
