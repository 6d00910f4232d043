export interface Toast {
  readonly id: number;
  readonly kind: "info" | "good" | "warning" | "bad";
  readonly text: string;
  /** What to do next, such as undo. */
  readonly action?: { readonly title: string; run(): unknown };
  readonly seconds: number;
}

interface Shown {
  readonly text: string;
  readonly kind?: Toast["kind"];
  readonly action?: Toast["action"];
  /** How long it stays: 5 s, failures 12 s; 0 stays until it is closed. */
  readonly seconds?: number;
  /** Called when it goes without its action having run. */
  readonly onexpire?: () => unknown;
}

/** Short notices at the edge. What matters for longer stands beside the thing itself. */
class Toasts {
  all = $state.raw<readonly Toast[]>([]);
  #lastId = 0;
  readonly #expiring = new Map<number, { timer?: ReturnType<typeof setTimeout>; onexpire?: () => unknown }>();

  show({ text, kind = "info", action, seconds = kind === "bad" ? 12 : 5, onexpire }: Shown): number {
    const id = (this.#lastId += 1);
    this.all = [...this.all, { id, kind, text, seconds, ...(action ? { action } : {}) }];
    const timer = seconds > 0 ? setTimeout(() => this.close(id), seconds * 1000) : undefined;
    this.#expiring.set(id, { ...(timer ? { timer } : {}), ...(onexpire ? { onexpire } : {}) });
    return id;
  }

  /** Tells a failure in the server's words. */
  fail(error: unknown, what?: string): number {
    const words = error instanceof Error ? error.message : String(error);
    return this.show({ kind: "bad", text: what ? `${what} ${words}` : words });
  }

  /** Runs something, and tells its failure. */
  async attempt(run: () => Promise<unknown>): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Does it at once and keeps ten seconds of undo; `commit` runs when they are over or the page goes. */
  undoable({
    text,
    title,
    undo,
    commit,
  }: {
    text: string;
    title: string;
    undo(): unknown;
    commit(): unknown;
  }): void {
    let isDecided = false;
    const decide = (run: () => unknown) => {
      if (!isDecided) {
        isDecided = true;
        removeEventListener("pagehide", leave);
        void run();
      }
    };
    const leave = () => decide(commit);
    addEventListener("pagehide", leave);
    this.show({
      text,
      seconds: 10,
      action: { title, run: () => decide(undo) },
      onexpire: () => decide(commit),
    });
  }

  act(toast: Toast): void {
    void toast.action?.run();
    this.close(toast.id);
  }

  close(id: number): void {
    const { timer, onexpire } = this.#expiring.get(id) ?? {};
    clearTimeout(timer);
    this.#expiring.delete(id);
    this.all = this.all.filter((toast) => toast.id !== id);
    void onexpire?.();
  }
}

export const toasts = new Toasts();
