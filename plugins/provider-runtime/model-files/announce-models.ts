import type { Principal } from "#kernel/access/principal.ts";
import type { Events } from "#kernel/events.ts";
import type { Backend } from "../backends/backend.ts";
import type { Backends } from "../backends/backends.ts";

/** A model that an administrator brought onto a backend, or took from it. */
export interface ChangedModel {
  readonly by: Principal;
  readonly backend: Backend;
  /** As the backend knows it. */
  readonly name: string;
}

export type AnnounceModel = (what: "created" | "deleted", changed: ChangedModel) => void;

/** Returns the function that announces `model.provider_model.created` and `.deleted` (appendix A10). */
export function announceModels(events: Pick<Events, "announce">): AnnounceModel {
  return (what, { by: { userId: id, name, email, role }, backend, name: model }) => {
    const { prefix } = backend;
    events.announce(`model.provider_model.${what}`, {
      actor: { id, name, email, role },
      subject: { type: "model", id: prefix === "" ? model : `${prefix}.${model}` },
      data: { name: model, backend: backend.index },
    });
  };
}

/**
 * Watches whether a backend gets a model that it does not have yet. Resolves to a function that asks for its list anew and
 * announces the model where it is there by then: progress that breaks off makes none.
 */
export async function watchCreation(
  { backends, announce }: { readonly backends: Backends; readonly announce: AnnounceModel },
  { by, backend, name }: ChangedModel,
): Promise<() => Promise<void>> {
  await backends.models();
  const before = findHeld(backends, backend, name);
  return async () => {
    await backends.refresh(backend);
    const after = findHeld(backends, backend, name);
    if (before === undefined && after !== undefined) {
      announce("created", { by, backend, name: after });
    }
  };
}

/** The name of a model in a backend's last list; without a tag the latest is meant. */
function findHeld(backends: Backends, { index }: Backend, name: string): string | undefined {
  const names = [name, `${name}:latest`];
  return [...backends.known().holders.values()]
    .flat()
    .find(({ backend, upstreamId }) => backend.index === index && names.includes(upstreamId))?.upstreamId;
}
