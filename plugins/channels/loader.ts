import type { Principal } from "#kernel/access/principal.ts";
import type { Access, Loader } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import { resourceType } from "./parts.ts";
import { type ChannelRow, findChannel } from "./rows/channels.ts";
import { isActiveMember } from "./rows/members.ts";
import type { ChannelDatabase } from "./tables.ts";

/**
 * The way to a channel by its type. Standard: the creator, administrators and grants. Group: active members, and
 * administrators. Direct: active members alone. Apps: only where they were added.
 */
export function createChannelLoader(access: Access, db: ChannelDatabase): Loader<ChannelRow> {
  const common = { type: resourceType, find: (id: string) => findChannel(db, id) };
  const joined = {
    ...common,
    // Who made a group and left it is outside like everybody who left.
    ownerOf: () => null,
    reachableById: ({ userId }: { userId: string }, id: string) => isActiveMember(db, id, userId),
  };
  const standard = access.loader<ChannelRow>({ ...common, ownerOf: (row) => row.user_id });
  const group = access.loader<ChannelRow>(joined);
  const direct = access.loader<ChannelRow>({ ...joined, adminPasses: false });
  const loaderOf = async (caller: Principal, id: string): Promise<Loader<ChannelRow> | undefined> => {
    if (caller.app !== undefined) {
      // An app is bound to the channels it was added to: what everybody may read is not open to it.
      return (await isActiveMember(db, id, caller.userId)) ? group : undefined;
    }
    const type = (await findChannel(db, id))?.type ?? null;
    return type === null ? standard : type === "group" ? group : direct;
  };
  return {
    async load(caller, id, action) {
      const loader = await loaderOf(caller, id);
      if (loader === undefined) {
        throw new AppError("not_found", "Not found");
      }
      return await loader.load(caller, id, action);
    },
    find: async (caller, id, action) => await (await loaderOf(caller, id))?.find(caller, id, action),
  };
}
