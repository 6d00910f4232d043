import type {
  ClientStore,
  FlowStore,
  SessionPlace,
  SessionStore,
  StoredFlow,
  StoredSession,
} from "./stores.ts";
import type { ClientRegistration } from "./sign-in.ts";

/** Stores of a process without a database, for clients that live as long as one scenario. */
export function createMemoryStores() {
  const sessions = new Map<string, StoredSession>();
  const flows = new Map<string, StoredFlow>();
  const clients = new Map<string, ClientRegistration>();
  const keyOf = ({ userId, provider }: SessionPlace) => `${userId} ${provider}`;
  let versions = 0;
  const sessionStore: SessionStore = {
    read: async (place) => sessions.get(keyOf(place)),
    async save(place, tokens) {
      versions += 1;
      sessions.set(keyOf(place), { tokens, wantedScope: undefined, version: String(versions) });
    },
    async wantScope(place, wantedScope) {
      const stored = sessions.get(keyOf(place));
      if (stored) {
        sessions.set(keyOf(place), { ...stored, wantedScope });
      }
    },
    beginRenewal: async () => true,
    endRenewal: async () => {},
    async remove(place) {
      const stored = sessions.get(keyOf(place));
      sessions.delete(keyOf(place));
      return stored;
    },
  };
  const flowStore: FlowStore = {
    put: async (state, _place, flow) => void flows.set(state, flow),
    async take(state) {
      const flow = flows.get(state);
      flows.delete(state);
      return flow;
    },
  };
  const clientStore: ClientStore = {
    read: async (provider) => clients.get(provider),
    save: async (provider, registration) => void clients.set(provider, registration),
  };
  return { sessions: sessionStore, flows: flowStore, clients: clientStore };
}
