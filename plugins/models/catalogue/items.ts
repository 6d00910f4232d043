import type { ProviderModel } from "#kernel/completion/provider.ts";
import type { Arena } from "./arena.ts";
import { toChatVariables } from "./chat-variables.ts";
import { fillMetadata } from "./defaults.ts";
import type { AvailableModel } from "./available-models.ts";
import type { ModelAddons, ResolvedModel } from "../service.ts";
import { toReadersParams } from "../records/wire.ts";

export type ListItem = Record<string, unknown> & { id: string; name: string };

/** A provider's model as the list shows it (contract 2.1). */
export function toBaseItem(model: ProviderModel): ListItem {
  return {
    id: model.id,
    name: model.name,
    object: "model",
    created: model.created,
    owned_by: model.ownedBy,
    connection_type: model.connectionType,
    ...model.item,
    tags: model.tags,
  };
}

/** The wire item: no prompt, no parameters but the controls, no picture, no names of knowledge. */
export function toItem(
  entry: AvailableModel,
  model: ResolvedModel,
  addons: readonly ModelAddons[],
): ListItem {
  const record = entry.chain[0];
  const { id, name, base } = entry;
  const variables = toChatVariables(model.params["system"]);
  const meta: Record<string, unknown> = {
    ...toPublicMeta(model.meta),
    ...(variables ? { chat_variables_schema: variables } : {}),
  };
  const info = {
    id,
    name,
    model: record?.model ?? id,
    base_model_id: record?.base_model_id ?? null,
    meta,
    params: toReadersParams(model.params),
    ...(record && {
      user_id: record.user_id,
      is_active: record.is_active,
      created_at: record.created_at,
      updated_at: record.updated_at,
    }),
  };
  return {
    ...toBaseItem(base),
    id,
    name,
    tags: toDistinct([...base.tags, ...toTags(meta)]),
    ...toAddons(addons, { id, meta: model.meta }),
    ...(record?.base_model_id ? { preset: true, created: record.created_at } : {}),
    info,
  };
}

/** An arena model keeps to itself whom it chooses from: the answer is to be judged without a name. */
export function toArenaItem(
  { id, name, meta: own }: Arena,
  defaults: Readonly<Record<string, unknown>>,
  addons: readonly ModelAddons[],
): ListItem {
  const { access_grants: _grants, model_ids: _ids, filter_mode: _mode, ...shown } = own;
  const meta = fillMetadata(shown, defaults);
  const params = { model_controls: [] };
  const info = { id, name, model: id, base_model_id: null, meta: toPublicMeta(meta), params };
  const kind = { owned_by: "arena", connection_type: "local", arena: true };
  const tags = toTags(meta);
  // The member that answers decides about its own functions; the list shows the global ones.
  const global = toAddons(addons, { id, meta: {} });
  return { id, name, object: "model", created: 0, ...kind, tags, ...global, info };
}

function toPublicMeta(meta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { profile_image_url: _picture, knowledge: _knowledge, ...shown } = meta;
  return shown;
}

function toAddons(addons: readonly ModelAddons[], model: Parameters<ModelAddons["of"]>[0]) {
  const found = addons.map((addon) => addon.of(model));
  return {
    actions: found.flatMap(({ actions }) => actions),
    filters: found.flatMap(({ filters }) => filters),
  };
}

function toTags(meta: Readonly<Record<string, unknown>>): { name: string }[] {
  const tags: readonly unknown[] = Array.isArray(meta["tags"]) ? meta["tags"] : [];
  return tags.filter(isTag);
}

/** The instance's defaults may come from the environment, where nobody looked at them. */
function isTag(tag: unknown): tag is { name: string } {
  return typeof tag === "object" && tag !== null && "name" in tag && typeof tag.name === "string";
}

function toDistinct(tags: readonly { readonly name: string }[]): { name: string }[] {
  return [...new Map(tags.map((tag) => [tag.name, tag])).values()];
}
