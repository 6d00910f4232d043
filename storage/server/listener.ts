import { Client, type ClientConfig } from "pg";
import { UnavailableError } from "../errors.ts";

export interface ListenerOptions {
  config: ClientConfig;
  onNotification(channel: string, payload: string): void;
  /** After a lost connection came back: something may have been missed. */
  onGap(): void;
  log(message: string): void;
}

const HEARTBEAT_MS = 5_000;
const CONNECT_LIMIT_MS = 2_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** One connection of its own for announcements; opened at the first channel and again whenever it breaks. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #channels = new Set<string>();
  #client: Client | undefined;
  #connecting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #started = false;
  #closed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** False while the connection is lost: announcements are being missed. */
  get isHearing(): boolean {
    return this.#client !== undefined || !this.#started;
  }

  /** Resolves when announcements on the channel arrive. Rejects when the first connection cannot be made. */
  async listen(channel: string): Promise<void> {
    this.#channels.add(channel);
    if (!this.#started) {
      this.#started = true;
      try {
        await this.#connect();
      } catch (error) {
        this.#started = false;
        this.#channels.delete(channel);
        throw error;
      }
    } else {
      await this.#connecting;
      await this.#send(`listen "${channel}"`);
    }
  }

  async unlisten(channel: string): Promise<void> {
    this.#channels.delete(channel);
    await this.#send(`unlisten "${channel}"`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#connecting?.catch(() => {});
    await this.#client?.end();
    this.#client = undefined;
  }

  /** While the connection is being restored nothing needs to be said: it comes back with all channels. */
  async #send(statement: string): Promise<void> {
    const client = this.#client;
    try {
      await client?.query(statement);
    } catch (error) {
      if (client !== undefined && client === this.#client) {
        this.#lose(client, (error as Error).message);
      }
    }
  }

  #connect(): Promise<void> {
    this.#connecting = this.#open().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #open(): Promise<void> {
    const client = new Client({
      ...this.#options.config,
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      query_timeout: HEARTBEAT_MS,
    });
    client.on("error", (error) => this.#lose(client, error.message));
    client.on("end", () => this.#lose(client, "the connection ended"));
    client.on("notification", ({ channel, payload }) => this.#options.onNotification(channel, payload ?? ""));
    try {
      await client.connect();
      for (const channel of this.#channels) {
        await client.query(`listen "${channel}"`);
      }
      if (this.#closed) {
        throw new UnavailableError("The database is closed");
      }
    } catch (error) {
      discard(client);
      throw error;
    }
    this.#client = client;
    this.#schedule(HEARTBEAT_MS, () => this.#beat(client));
  }

  /** A half-open connection gives no error by itself, so it is asked regularly. */
  #beat(client: Client): void {
    client.query("select 1").then(
      () => client === this.#client && this.#schedule(HEARTBEAT_MS, () => this.#beat(client)),
      (error: Error) => this.#lose(client, error.message),
    );
  }

  #lose(client: Client, reason: string): void {
    if (client !== this.#client || this.#closed) {
      return;
    }
    this.#client = undefined;
    discard(client);
    this.#options.log(`The connection for announcements was lost (${reason}); connecting again`);
    this.#reconnect(FIRST_PAUSE_MS);
  }

  #reconnect(pause: number): void {
    this.#schedule(pause, () => {
      this.#connect().then(
        () => {
          this.#options.log("The connection for announcements is back");
          this.#options.onGap();
        },
        () => this.#closed || this.#reconnect(Math.min(pause * 2, LONGEST_PAUSE_MS)),
      );
    });
  }

  #schedule(pause: number, run: () => void): void {
    if (!this.#closed) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(run, pause).unref();
    }
  }
}

function discard(client: Client): void {
  client.end().catch(() => {});
}
