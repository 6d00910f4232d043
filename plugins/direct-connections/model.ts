import type { ProviderModel } from "#kernel/completion/provider.ts";

/**
 * The model as the rest of the platform sees it. What a client says about its model is believed for names only: nothing
 * that decides about rights, filters or costs comes from it.
 */
export function toProviderModel(id: string, item: Readonly<Record<string, unknown>>): ProviderModel {
  const { name, owned_by: ownedBy, created } = item;
  return {
    id,
    name: typeof name === "string" && name !== "" ? name : id,
    ownedBy: typeof ownedBy === "string" ? ownedBy : "direct",
    created: typeof created === "number" && Number.isFinite(created) ? created : 0,
    connectionType: "external",
    tags: [],
    access: "everyone",
    item: { direct: true },
  };
}
