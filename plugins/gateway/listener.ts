import type { ListenerState, OwnListener } from "#kernel/http/own-listeners.ts";

export interface GatewayListenerParts {
  readonly config: { readonly enabled: boolean; readonly host: string; readonly port: number };
  onConfigChange(handler: (names: string[]) => void): () => void;
}

/** The gateway's own address, followed while administrators switch it on and off. */
export function createListener({ config, onConfigChange }: GatewayListenerParts) {
  let state: ListenerState = { kind: "closed" };
  let forget = () => {};
  const listener: OwnListener = {
    surface: "gateway",
    address: () => (config.enabled ? { host: config.host, port: config.port } : undefined),
    onChange(handler) {
      forget = onConfigChange((names) => {
        if (names.includes("ENABLE_GATEWAY")) {
          handler();
        }
      });
    },
    onState(next) {
      state = next;
    },
  };
  return { listener, state: () => state, stop: () => forget() };
}
