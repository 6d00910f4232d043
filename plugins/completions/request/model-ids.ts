import type { ResolvedModel } from "#plugins/models/service.ts";

/** Every id under which a model goes: the one the caller named, an arena's choice, and the provider's own. */
export function toModelIds({ id, selectedModelId, base }: ResolvedModel): readonly string[] {
  return id === base.id ? [id] : [...new Set([id, selectedModelId ?? id, base.id])];
}
