import { server } from "../server.ts";
import { ApiError } from "../client.ts";
import { readStream } from "./read-stream.ts";
import type { OpenTransport, Transport, TransportListener } from "./transport.ts";

/** The first words of a stream come at once, or something on the way collects them. */
const firstWordsMs = 4000;
/** The server says something every 15 s. */
const longestSilenceMs = 40_000;
const longestPollSeconds = 10;
const longestAnswerMs = 20_000;
/** Windows that nobody sees ask now and then: browsers open few connections to one server at a time. */
const hiddenPauseMs = 5000;
const pauseMs = 500;
/** Answers that a proxy cuts are begun again; a server that is away ends the connection. */
const mostFailures = 3;

/** Follows events over HTTP: as a stream, or by polling where streams do not come through. */
export const openHttp: OpenTransport = (listener) => new HttpTransport(listener);

class HttpTransport implements Transport {
  readonly #listener: TransportListener;
  readonly #abort = new AbortController();
  #sessionId = "";
  #after = 0;
  #failures = 0;
  /** Something on the way holds streams up. */
  #isHeldUp = false;
  #outgoing: object[] = [];
  #isSending = false;

  constructor(listener: TransportListener) {
    this.#listener = listener;
    void this.#run();
  }

  send(frame: object): void {
    this.#outgoing.push(frame);
    void this.#sendAll();
  }

  close(): void {
    this.#abort.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      try {
        await (document.hidden
          ? this.#poll(0)
          : this.#isHeldUp
            ? this.#poll(longestPollSeconds)
            : this.#stream());
        this.#failures = 0;
      } catch (error) {
        this.#failures += 1;
        const isRefused = error instanceof ApiError && error.status < 500;
        if (isRefused || this.#failures >= mostFailures) {
          this.#end((error as Error).message);
          return;
        }
      }
      await pause(document.hidden ? hiddenPauseMs : this.#isHeldUp ? 0 : pauseMs, signal);
    }
  }

  /** Resolves when the stream ends, or does not come through. */
  async #stream(): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([this.#abort.signal, ended.signal]);
    const hide = () => document.hidden && ended.abort();
    let timer: ReturnType<typeof setTimeout> | undefined;
    /** Nothing can be learned any more from its silence. */
    let isDecided = false;
    void this.#probe(signal).then((isThere) => {
      if (isThere && !isDecided) {
        this.#isHeldUp = true;
        ended.abort();
      }
    });
    document.addEventListener("visibilitychange", hide);
    try {
      const response = await server.open("GET /api/v1/events", { query: this.#place(), signal });
      if (!response.ok) {
        throw new ApiError(response.status, await response.json().catch(() => null));
      }
      await readStream(response, {
        onwords: () => {
          isDecided = true;
          this.#failures = 0;
          clearTimeout(timer);
          timer = setTimeout(() => ended.abort(), longestSilenceMs);
        },
        onevent: ({ name, id, data }) => {
          if (name === "open") {
            this.#begin((JSON.parse(data) as { session_id: string }).session_id, "stream");
          } else {
            this.#after = Number(id);
            this.#listener.onframe(JSON.parse(data));
          }
        },
      });
    } catch (error) {
      if (!ended.signal.aborted) {
        throw error;
      }
    } finally {
      isDecided = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", hide);
    }
  }

  /** Resolves to true once the server has answered something that was asked later: a stream still silent is held up. */
  async #probe(signal: AbortSignal): Promise<boolean> {
    await pause(firstWordsMs, signal);
    const isThere = await server.call("GET /api/version", { signal }).then(
      () => true,
      () => false,
    );
    await pause(pauseMs, signal);
    return isThere;
  }

  async #poll(wait: number): Promise<void> {
    const answer = await server.call("GET /api/v1/events/poll", {
      query: { ...this.#place(), wait },
      signal: AbortSignal.any([this.#abort.signal, AbortSignal.timeout(wait * 1000 + longestAnswerMs)]),
    });
    this.#begin(answer.session_id, "poll");
    this.#after = answer.after;
    answer.frames.forEach((frame) => this.#listener.onframe(frame));
  }

  #place(): { session_id?: string; after: number } {
    return { after: this.#after, ...(this.#sessionId !== "" && { session_id: this.#sessionId }) };
  }

  /** A session that the server does not know any more is over; the page asks for what it missed with the next one. */
  #begin(sessionId: string, kind: "stream" | "poll"): void {
    if (this.#sessionId !== "" && sessionId !== this.#sessionId) {
      throw new ApiError(404, { detail: "The session is over." });
    }
    this.#sessionId = sessionId;
    this.#listener.onkind(kind);
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending || this.#sessionId === "") {
      return;
    }
    this.#isSending = true;
    try {
      while (this.#outgoing.length > 0 && !this.#abort.signal.aborted) {
        const frames = this.#outgoing.slice(0, 50) as { type: string }[];
        await server.call("POST /api/v1/events/emit", {
          body: { session_id: this.#sessionId, frames },
          signal: this.#abort.signal,
        });
        this.#outgoing = this.#outgoing.slice(frames.length);
      }
    } catch (error) {
      // Frames have an order: what did not arrive is asked again by the next connection.
      this.#end((error as Error).message);
    } finally {
      this.#isSending = false;
    }
  }

  #end(reason: string): void {
    if (!this.#abort.signal.aborted) {
      this.#abort.abort();
      this.#listener.onclose(reason);
    }
  }
}

/** Ends early when the page comes into sight. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    document.addEventListener("visibilitychange", end);
    signal.addEventListener("abort", end, { once: true });
  });
}
