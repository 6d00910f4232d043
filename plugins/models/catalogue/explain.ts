import type { Principal } from "#kernel/access/principal.ts";
import { isAmong } from "#kernel/completion/audience.ts";
import type { Access } from "#kernel/access/resource.ts";
import type { ExplainedResource, OtherWay } from "#plugins/accounts/service.ts";
import { type ModelParts, resourceType } from "../parts.ts";

type Parts = Pick<ModelParts, "catalogue" | "records" | "loader" | "permit"> & {
  readonly access: Pick<Access, "passes">;
};

/** Tells administrators why somebody can use a model: its record, and for those without one its connection. */
export function explainModels({ catalogue, records, loader, permit, access }: Parts): ExplainedResource {
  const findRecord = async (id: string) => (await records.fresh()).get(id);
  const findAudience = async (id: string) => (await catalogue.find(id).catch(() => undefined))?.model.access;
  return {
    kind: "model",
    grantType: resourceType,
    async find(_asker, id) {
      const record = await findRecord(id);
      if (record !== undefined) {
        return { id, name: record.name, ownerId: record.user_id || null };
      }
      return (await catalogue.isKnown(id)) ? { id, name: id, ownerId: null } : undefined;
    },
    may: async (principal, id, permission) =>
      permission === "read"
        ? await catalogue.mayUse(principal, id)
        : (await loader.find(principal, id, "write")) !== undefined,
    async others(principal, id) {
      const passes = access.passes(principal);
      const isRecord = (await findRecord(id)) !== undefined;
      const audience = isRecord ? undefined : await findAudience(id);
      return [
        ...(passes ? [toWay("administrator", "read")] : []),
        ...(passes && isRecord ? [toWay("administrator", "write")] : []),
        ...(!passes && permit.all(principal) ? [toWay("open_to_all", "read")] : []),
        ...(audience !== undefined && isOffered(audience, principal)
          ? [toWay(typeof audience === "string" ? "connection" : "connection_group", "read")]
          : []),
      ];
    },
  };
}

function isOffered(audience: Parameters<typeof isAmong>[0], { groupIds }: Principal): boolean {
  return isAmong(audience, { role: "user", groupIds });
}

function toWay(rule: OtherWay["rule"], permission: OtherWay["permission"]): OtherWay {
  return { rule, permission };
}
