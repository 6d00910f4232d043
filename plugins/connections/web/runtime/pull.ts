/** How far a fetch is, as the backend tells. */
export interface PullProgress {
  readonly status: string;
  /** Bytes of all parts that are known so far. */
  readonly completed: number;
  readonly total: number;
}

interface Line {
  readonly status?: string;
  readonly digest?: string;
  readonly completed?: number;
  readonly total?: number;
  readonly error?: string;
}

/** Sums up the lines of a fetch: a model comes in parts, each with its own count. */
export class PullReader {
  #rest = "";
  #status = "";
  readonly #parts = new Map<string, { readonly completed: number; readonly total: number }>();

  /** Takes a piece of the answer. Throws the backend's own words when it gave up. */
  push(piece: string): PullProgress {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      this.#take(line.trim());
    }
    const parts = [...this.#parts.values()];
    return {
      status: this.#status,
      completed: parts.reduce((sum, part) => sum + part.completed, 0),
      total: parts.reduce((sum, part) => sum + part.total, 0),
    };
  }

  #take(text: string): void {
    if (text === "") {
      return;
    }
    const { status, digest, completed = 0, total, error } = JSON.parse(text) as Line;
    if (error !== undefined) {
      throw new Error(error);
    }
    this.#status = status ?? this.#status;
    if (digest !== undefined && total !== undefined) {
      this.#parts.set(digest, { completed, total });
    }
  }
}
