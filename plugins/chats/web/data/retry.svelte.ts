import { serverNow } from "#plugins/web/kit/stores/server-time.ts";

const firstDelayMs = 1000;
const longestDelayMs = 30_000;

/** Repeats what did not reach the server, ever more seldom, and at once when the device is online again. */
export class Retry {
  /** Epoch milliseconds of the next try; undefined while none is planned. */
  at = $state<number>();
  /** Tries that failed since the server was reached last. */
  failures = $state(0);
  /** The server has what was sent, and has not answered yet. */
  isHeld = $state(false);
  readonly #run: () => unknown;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #online = () => this.now();

  constructor(run: () => unknown) {
    this.#run = run;
    addEventListener("online", this.#online);
  }

  /** Plans the next try after one that failed. */
  plan(): void {
    clearTimeout(this.#timer);
    const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** this.failures);
    this.failures += 1;
    this.isHeld = false;
    this.at = serverNow() + delay;
    this.#timer = setTimeout(() => this.now(), delay);
  }

  /** Makes the planned try at once. */
  now(): void {
    if (this.at !== undefined) {
      this.#forget();
      this.#run();
    }
  }

  /** The server was reached, or there is nothing left to try. */
  reset(): void {
    this.failures = 0;
    this.isHeld = false;
    this.#forget();
  }

  close(): void {
    this.reset();
    removeEventListener("online", this.#online);
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.at = undefined;
  }
}
