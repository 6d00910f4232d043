import type { FileReferences } from "#plugins/files/service.ts";
import type { ChannelParts } from "./parts.ts";

/** Readers of a channel may read the files that their owners posted there. */
export function toFileReference({ db, channels, files, isOpen }: ChannelParts): FileReferences {
  return {
    id: "channels",
    async isReachable(principal, fileId, action) {
      if (action !== "read" || !isOpen(principal)) {
        return false;
      }
      const owner = (await files.owners([fileId])).get(fileId);
      const rows = await db
        .selectFrom("channel_file")
        .select("channel_id")
        .where("file_id", "=", fileId)
        .where("user_id", "=", owner ?? "")
        .limit(100)
        .execute();
      for (const { channel_id: channelId } of rows) {
        if ((await channels.find(principal, channelId, "read")) !== undefined) {
          return true;
        }
      }
      return false;
    },
  };
}
