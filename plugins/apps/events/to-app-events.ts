import type { SystemEvent } from "#kernel/events.ts";
import type { AppEventName } from "../scopes.ts";

type Bag = Readonly<Record<string, unknown>>;

/** Something that happened in a channel, before it is known which apps hear of it. */
export interface ChannelHappening {
  readonly channelId: string;
  readonly event: AppEventName;
  readonly data: Bag;
  /** The account that came or went. */
  readonly member?: string;
  /** Only the app with this bot hears of it, whether it is still in the channel or not. */
  readonly only?: string;
}

const renamed: Readonly<Record<string, AppEventName>> = {
  "message.updated": "message.updated",
  "message.deleted": "message.deleted",
  "message.pinned": "message.pinned",
  "message.unpinned": "message.unpinned",
  "message.reaction_added": "reaction.added",
  "message.reaction_removed": "reaction.removed",
};

/** The events of apps that follow from a system event of channels (appendix A10): mostly one, none from other system events. */
export function toHappenings({ event, subject, data }: SystemEvent): readonly ChannelHappening[] {
  const facts = (data ?? {}) as Bag;
  const channelId = subject?.id ?? "";
  switch (event) {
    case "channel.message":
      return toPosts(channelId, facts);
    case "channel.updated":
      return [{ channelId, event: "channel.updated", data: {} }];
    case "channel.member_added":
    case "channel.member_removed":
      return toMembership(channelId, event === "channel.member_added", facts);
    default: {
      const name = renamed[event];
      const { channel_id: id, ...rest } = facts;
      return name === undefined ? [] : [{ channelId: String(id), event: name, data: rest }];
    }
  }
}

function toPosts(channelId: string, { message, author, mentions }: Bag): ChannelHappening[] {
  const data = { message, author, mentions };
  const mentioned = (mentions as { users?: readonly string[] } | undefined)?.users ?? [];
  return [
    { channelId, event: "message.created", data },
    ...mentioned.map((only) => ({ channelId, event: "app.mentioned" as const, data, only })),
  ];
}

function toMembership(channelId: string, isAdded: boolean, facts: Bag): ChannelHappening[] {
  const userId = String(facts["user_id"]);
  const member = { id: userId, is_app: facts["is_app"] === true };
  return [
    { channelId, event: isAdded ? "member.joined" : "member.left", data: { member }, member: userId },
    { channelId, event: isAdded ? "app.added" : "app.removed", data: {}, only: userId },
  ];
}
