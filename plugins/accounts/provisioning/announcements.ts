import type { AccountChange } from "../account-changes.ts";
import type { AccountsDeps } from "../deps.ts";

/** Above so many accounts one announcement for everybody is cheaper than one each. */
const announcedOneByOne = 20;

/** Collects what a transaction changed, to be announced once it has committed. */
export class Announcements {
  readonly #deps: Pick<AccountsDeps, "changes" | "emit">;
  readonly #accounts = new Set<string>();
  readonly #events: [string, Record<string, unknown>][] = [];
  #everybody = false;

  constructor(deps: Pick<AccountsDeps, "changes" | "emit">) {
    this.#deps = deps;
  }

  /** These accounts are no longer what a replica remembers. */
  accounts(ids: readonly string[]): void {
    if (ids.length > announcedOneByOne) {
      this.#everybody = true;
    } else {
      ids.forEach((id) => this.#accounts.add(id));
    }
  }

  /** Every account may have changed. */
  everybody(): void {
    this.#everybody = true;
  }

  event(name: string, data: Record<string, unknown>): void {
    // The author is no account: `by` says so, or the account itself would be named.
    this.#events.push([name, { ...data, by: null }]);
  }

  async send(): Promise<void> {
    const { changes, emit } = this.#deps;
    const changed: AccountChange[] = this.#everybody
      ? [{ all: true }]
      : [...this.#accounts].map((userId) => ({ userId }));
    await Promise.all(changed.map((change) => changes.announce(change)));
    this.#events.forEach(([name, data]) => emit(name, data));
  }
}
