import type { Api } from "#plugins/catalogue.ts";

export type ChannelItem = Api["GET /api/v1/channels/"]["answer"][number];
export type Channel = Api["GET /api/v1/channels/:id"]["answer"];
export type Message = Api["GET /api/v1/channels/:id/messages"]["answer"][number];
export type Webhook = Api["GET /api/v1/channels/:id/webhooks"]["answer"][number];
export type Member = Api["GET /api/v1/channels/:id/members"]["answer"]["users"][number];
export type ChannelApps = Api["GET /api/v1/apps/channels/:channel_id"]["answer"];
export type MessageFile = Message["files"][number];

/** The payload of the socket event `events:channel`. */
export interface ChannelEvent {
  readonly channel_id: string;
  readonly message_id: string | null;
  readonly data: { readonly type: string; readonly data?: unknown };
  readonly user: { readonly id: string | null; readonly name: string } | null;
}

/** What a model or a webhook says of itself in a message. */
export interface MessageMeta {
  readonly model_id?: string;
  readonly model_name?: string;
  readonly done?: boolean;
  readonly error?: { readonly content: string };
  readonly edited_at?: string;
}
