import { openHttp } from "./http.ts";
import type { OpenTransport } from "./transport.ts";
import { openWebSocket } from "./web-socket.ts";

const storageKey = "transport";
/** A connection that stood for so long was worth it. */
const lastingMs = 60_000;
const mostShortLives = 3;
/** After so long a WebSocket is tried again: people move from one network to another. */
const longestMs = 30 * 60_000;

/**
 * Chooses between a WebSocket and HTTP: whichever came through last in this window, and HTTP where a WebSocket cannot
 * be opened or does not stay open.
 */
export class TransportChoice {
  /** False where the server takes no WebSockets. */
  readonly #takesSockets: () => boolean;
  #isHttp = wasHttp();
  #since = 0;
  #shortLives = 0;

  constructor(takesSockets: () => boolean) {
    this.#takesSockets = takesSockets;
  }

  get open(): OpenTransport {
    return this.#isHttp || !this.#takesSockets() ? openHttp : openWebSocket;
  }

  /** A session stands. */
  stood(): void {
    this.#since = Date.now();
    this.#remember();
  }

  /** A connection broke. Resolves to true when another way is to be tried at once. */
  fell(): boolean {
    const hadStood = this.#since > 0;
    const isShort = hadStood && Date.now() - this.#since < lastingMs;
    this.#since = 0;
    this.#shortLives = isShort ? this.#shortLives + 1 : 0;
    if (this.#isHttp) {
      // The network may be another one by now.
      this.#isHttp = hadStood;
      return false;
    }
    this.#isHttp = !hadStood || this.#shortLives >= mostShortLives;
    return this.#isHttp;
  }

  #remember(): void {
    try {
      if (this.#isHttp) {
        sessionStorage.setItem(storageKey, String(Date.now()));
      } else {
        sessionStorage.removeItem(storageKey);
      }
    } catch {
      // Without storage the page finds out once more.
    }
  }
}

function wasHttp(): boolean {
  try {
    return Date.now() - Number(sessionStorage.getItem(storageKey) ?? 0) < longestMs;
  } catch {
    return false;
  }
}
