import type { Principal } from "#kernel/access/principal.ts";
import { defineEvent } from "#kernel/events.ts";
import { defineService } from "#kernel/service.ts";

/** A person has read a channel up to now. */
export const channelRead = defineEvent<{ readonly userId: string; readonly channelId: string }>(
  "channel:read",
);

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

/** A channel as apps are told of it. */
export interface ChannelFacts {
  readonly id: string;
  readonly name: string;
  readonly type: "group" | "dm" | null;
}

/** Bots in channels: managers bring them in and take them out, whatever the channel's kind. */
export interface ChannelBots {
  /** Throws `not_found`; `forbidden` for somebody who does not manage the channel. */
  requireManager(caller: Principal, channelId: string): Promise<ChannelFacts>;
  /** Throws `not_found` for a channel that the caller may not read. */
  requireReader(caller: Principal, channelId: string): Promise<ChannelFacts & { isManager: boolean }>;
  /** False when the bot was there already. Throws like `requireManager`. */
  add(caller: Principal, channelId: string, bot: BotAccount): Promise<boolean>;
  /** False when the bot was not there. Throws like `requireManager`. */
  remove(caller: Principal, channelId: string, bot: BotAccount): Promise<boolean>;
  /** Who of these bots is in the channel. */
  joined(channelId: string, botIds: readonly string[]): Promise<Set<string>>;
  channelsOf(botId: string): Promise<ChannelFacts[]>;
  /** Undefined for a channel that is gone. */
  find(channelId: string): Promise<ChannelFacts | undefined>;
}

/** The account of a bot. */
export interface BotAccount {
  readonly userId: string;
  readonly name: string;
}

export const channelBots = defineService<ChannelBots>("channels.bots");
