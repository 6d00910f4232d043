import type { Principal } from "#kernel/access/principal.ts";
import type { Events } from "#kernel/events.ts";

/**
 * Returns the function that announces changed connections of a provider: `config.connections.updated`, and
 * `model.provider_config.updated` with the provider's name. Addresses and keys stay out of the data.
 */
export function announceConnections(events: Pick<Events, "announce">, provider: string) {
  return ({ userId: id, name, email, role }: Principal, data: Readonly<Record<string, unknown>>): void => {
    const actor = { id, name, email, role };
    events.announce("config.connections.updated", { actor, subject: null, data });
    events.announce("model.provider_config.updated", {
      actor,
      subject: { type: "provider", id: provider },
      data,
    });
  };
}
