import type { Logger } from "#kernel/log.ts";
import { BootError } from "#kernel/order.ts";
import { createOwnApplication, type NodeHandler } from "./application.ts";
import type { BindContext, OwnedRoute } from "./bind.ts";
import { type Listening, openListener } from "./listen.ts";
import type { Surface } from "./surfaces.ts";

/** A surface that listens on an address of its own; opened, moved and closed while the process runs. */
export interface OwnListener {
  readonly surface: Surface;
  /** Where it shall listen now; undefined while it is switched off. */
  address(): { readonly host: string; readonly port: number } | undefined;
  /** `handler` runs when the address may have changed. */
  onChange(handler: () => void): void;
  /** Told where it listens, or why it does not. */
  onState(state: ListenerState): void;
}

/** What became of a listener. */
export type ListenerState =
  | { readonly kind: "listening"; readonly url: string }
  | { readonly kind: "closed" }
  | { readonly kind: "failed"; readonly problem: string };

export interface OwnListeners {
  /** Stops accepting; resolves when the last request has ended. */
  close(): Promise<void>;
  breakConnections(): void;
  /** The state of a surface's listener; undefined for a surface that no plugin of this process has. */
  state(surface: string): ListenerState | undefined;
}

export interface OwnListenersOptions {
  readonly routes: readonly OwnedRoute[];
  readonly context: BindContext;
  readonly log: Logger;
  /** Counts requests, so that a stop can wait for them. */
  track(handler: NodeHandler): NodeHandler;
}

/** Opens the listeners that are switched on and follows their settings. A port that is taken is told and logged. */
export async function openOwnListeners(
  listeners: readonly OwnListener[],
  options: OwnListenersOptions,
): Promise<OwnListeners> {
  const followed = listeners.map((listener) => follow(listener, options));
  await Promise.all(followed.map(({ ready }) => ready));
  return {
    close: async () => void (await Promise.all(followed.map(({ close }) => close()))),
    breakConnections: () => followed.forEach(({ breakConnections }) => breakConnections()),
    state: (surface) => followed.find((one) => one.surface === surface)?.state(),
  };
}

/** The listener of a process that serves one surface alone. Throws where it does not listen. */
export function onlyListener(surface: string, listeners: OwnListeners): Listening {
  const state = listeners.state(surface);
  if (state === undefined) {
    throw new BootError(`--only ${surface}: no plugin of this process serves it on a listener of its own.`);
  }
  if (state.kind !== "listening") {
    const why = state.kind === "failed" ? state.problem : "It is switched off.";
    throw new BootError(`--only ${surface}: ${why}`);
  }
  // It is closed with the others of its kind.
  return {
    url: state.url,
    port: Number(new URL(state.url).port),
    close: async () => {},
    breakConnections() {},
  };
}

function follow(listener: OwnListener, { routes, context, log, track }: OwnListenersOptions) {
  const handler = track(createOwnApplication(listener.surface, routes, context));
  let open: { readonly listening: Listening; readonly key: string } | undefined;
  let isStopped = false;
  let state: ListenerState = { kind: "closed" };
  const tell = (next: ListenerState) => {
    state = next;
    listener.onState(next);
  };
  const shut = async () => {
    const { listening } = open ?? {};
    open = undefined;
    const closed = listening?.close();
    listening?.breakConnections();
    await closed;
  };
  const sync = async () => {
    const wanted = isStopped ? undefined : listener.address();
    const key = wanted && JSON.stringify(wanted);
    if (key === open?.key) {
      return;
    }
    await shut();
    if (wanted === undefined || key === undefined) {
      tell({ kind: "closed" });
      return;
    }
    try {
      const listening = await openListener(handler, wanted);
      open = { listening, key };
      log.info({ url: listening.url }, `the surface ${listener.surface} listens`);
      tell({ kind: "listening", url: listening.url });
    } catch (error) {
      log.error({ err: error, ...wanted }, `the surface ${listener.surface} cannot listen`);
      tell({ kind: "failed", problem: toProblem(error) });
    }
  };
  // One change after another: two at once would open the port twice.
  let turn = sync();
  listener.onChange(() => {
    turn = turn.then(sync);
  });
  return {
    surface: listener.surface as string,
    state: () => state,
    ready: turn,
    async close() {
      isStopped = true;
      await turn;
      await open?.listening.close();
    },
    breakConnections: () => open?.listening.breakConnections(),
  };
}

function toProblem(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
