/** How frames of the plain protocol travel between this page and the server, the best way first. */
export type TransportKind = "socket" | "stream" | "poll";

/** One connection. It is closed by either side once, and never used again. */
export interface Transport {
  send(frame: object): void;
  close(): void;
}

export interface TransportListener {
  /** A frame of the server, as JSON has it. The first one is the event `session`. */
  onframe(frame: unknown): void;
  /** The connection is over, and was not closed by this side. */
  onclose(reason: string): void;
  /** It goes another way from now on, as where streams turn out to be held up. */
  onkind(kind: TransportKind): void;
}

export type OpenTransport = (listener: TransportListener) => Transport;
