import { Client, type ClientConfig } from "pg";
import { DatabaseUnavailableError } from "../errors.ts";

export interface Listener {
  listen(channel: string): Promise<void>;
  unlisten(channel: string): Promise<void>;
  close(): Promise<void>;
}

export interface ListenerOptions {
  config: ClientConfig;
  onNotification(channel: string, payload: string): void;
  /** After a lost connection came back: something may have been missed. */
  onGap(): void;
  log(message: string): void;
}

const HEARTBEAT_MS = 5_000;
const CONNECT_LIMIT_MS = 2_000;
const LONGEST_PAUSE_MS = 1_000;

/** One connection of its own for announcements; opened at the first channel and again whenever it breaks. */
export function createListener(options: ListenerOptions): Listener {
  const channels = new Set<string>();
  let client: Client | undefined;
  let connecting: Promise<Client> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function connect(): Promise<Client> {
    const fresh = new Client({
      ...options.config,
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      query_timeout: HEARTBEAT_MS,
      keepAlive: true,
    });
    fresh.on("error", (error) => lose(fresh, error.message));
    fresh.on("end", () => lose(fresh, "the connection ended"));
    fresh.on("notification", ({ channel, payload }) => options.onNotification(channel, payload ?? ""));
    try {
      await fresh.connect();
      for (const channel of channels) {
        await fresh.query(`listen "${channel}"`);
      }
    } catch (error) {
      drop(fresh);
      throw error;
    }
    if (closed) {
      drop(fresh);
      throw new DatabaseUnavailableError("The database is closed");
    }
    client = fresh;
    schedule(HEARTBEAT_MS, () => beat(fresh));
    return fresh;
  }

  /** A half-open connection gives no error by itself, so it is asked regularly. */
  function beat(current: Client): void {
    current.query("select 1").then(
      () => current === client && schedule(HEARTBEAT_MS, () => beat(current)),
      (error: Error) => lose(current, error.message),
    );
  }

  function lose(lost: Client, reason: string): void {
    if (lost !== client || closed) {
      return;
    }
    client = undefined;
    drop(lost);
    options.log(`The connection for announcements was lost (${reason}); connecting again`);
    reconnect(50);
  }

  function reconnect(pause: number): void {
    schedule(pause, () => {
      connecting = connect().finally(() => (connecting = undefined));
      connecting.then(
        () => {
          options.log("The connection for announcements is back");
          options.onGap();
        },
        () => closed || reconnect(Math.min(pause * 2, LONGEST_PAUSE_MS)),
      );
    });
  }

  function schedule(pause: number, run: () => void): void {
    clearTimeout(timer);
    timer = setTimeout(run, pause).unref();
  }

  let started = false;
  return {
    async listen(channel) {
      channels.add(channel);
      if (!started) {
        started = true;
        connecting = connect().finally(() => (connecting = undefined));
        try {
          await connecting;
        } catch (error) {
          started = false;
          channels.delete(channel);
          throw error;
        }
        return;
      }
      await connecting;
      // While the connection is being restored, the new channel is subscribed with the others.
      await client?.query(`listen "${channel}"`);
    },
    async unlisten(channel) {
      channels.delete(channel);
      await client?.query(`unlisten "${channel}"`);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await connecting?.catch(() => {});
      await client?.end();
      client = undefined;
    },
  };
}

function drop(client: Client): void {
  client.end().catch(() => {});
}
