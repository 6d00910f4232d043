import type { Logger } from "#kernel/log.ts";
import type { ToolServerConnection, ToolServers } from "../service.ts";
import type { Offer } from "./documents.ts";

/** What is known of a server's document. */
export interface OfferState {
  readonly offer: Offer | undefined;
  /** Why the last try failed; undefined when it did not. */
  readonly reason: string | undefined;
  /** Epoch seconds of the last try. */
  readonly checkedAt: number;
  readonly latencyMs: number;
}

export interface OffersOptions {
  readonly servers: Pick<ToolServers, "all">;
  readonly log: Logger;
  load(connection: ToolServerConnection, signal: AbortSignal): Promise<Offer>;
}

/** Milliseconds after which a document is read again, in the background, when somebody asks for it. */
const freshMs = 60_000;
/** After a failure the next try may come sooner, but not with every request. */
const retryMs = 10_000;

interface Known extends OfferState {
  readonly until: number;
}

/** The documents of servers by their fingerprint: offering tools waits for a server once, and never again. */
export function createOffers({ servers, load, log }: OffersOptions) {
  const known = new Map<string, Known>();
  const loading = new Map<string, Promise<Known>>();

  const read = (connection: ToolServerConnection): Promise<Known> => {
    const { fingerprint, toolId } = connection;
    const started = performance.now();
    // Shared by all who wait, so nobody's leaving ends it.
    const reading = load(connection, new AbortController().signal)
      .then(
        (offer): Known => remember({ offer, reason: undefined, until: Date.now() + freshMs }),
        (error: unknown): Known => {
          log.warn({ err: error, server: toolId }, "the document of a tool server could not be read");
          const reason = error instanceof Error ? error.message : "It could not be read.";
          return remember({ offer: known.get(fingerprint)?.offer, reason, until: Date.now() + retryMs });
        },
      )
      .finally(() => loading.delete(fingerprint));
    const remember = (facts: Pick<Known, "offer" | "reason" | "until">): Known => {
      const latencyMs = Math.round(performance.now() - started);
      const state = { ...facts, latencyMs, checkedAt: Math.floor(Date.now() / 1000) };
      known.set(fingerprint, state);
      return state;
    };
    loading.set(fingerprint, reading);
    return reading;
  };
  const readOnce = (connection: ToolServerConnection) =>
    loading.get(connection.fingerprint) ?? read(connection);

  return {
    /** The state of now; waits only for a server that was never asked. */
    async get(connection: ToolServerConnection, signal: AbortSignal): Promise<OfferState> {
      const state = known.get(connection.fingerprint);
      if (state === undefined) {
        return await raceAbort(readOnce(connection), signal);
      }
      if (state.until < Date.now()) {
        void readOnce(connection);
      }
      return state;
    },
    /** Asks the server now. */
    refresh: (connection: ToolServerConnection) => readOnce(connection),
    /** What is known without asking. */
    peek: ({ fingerprint }: ToolServerConnection): OfferState | undefined => known.get(fingerprint),
    /** Reads what is not known yet in the background, and drops what is not configured any more. */
    follow(): void {
      const wanted = servers.all().filter(({ type }) => type === "openapi");
      const prints = new Set(wanted.map(({ fingerprint }) => fingerprint));
      for (const fingerprint of known.keys()) {
        if (!prints.has(fingerprint)) {
          known.delete(fingerprint);
        }
      }
      wanted.filter(({ fingerprint }) => !known.has(fingerprint)).forEach((each) => void readOnce(each));
    },
  };
}

export type Offers = ReturnType<typeof createOffers>;

function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", abort));
}
