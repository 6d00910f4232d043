import { defineService } from "#kernel/service.ts";

/** The people whom messages of channels reach. */
export interface ChannelReaders {
  /**
   * Accounts that hear of a message though they do not look at the channel: everybody who joined a group or direct one
   * and has not hidden it; of a standard one those of `mentioned` who may read it. Empty while channels are off.
   */
  audience(channelId: string, mentioned: readonly string[]): Promise<string[]>;
  /** The text as people read it: labels in the place of mentions. */
  toPlainText(text: string): string;
}

export const channelReaders = defineService<ChannelReaders>("channels.readers");
