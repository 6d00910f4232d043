import { z } from "zod";
import { appEvents, scopes } from "./scopes.ts";

export const limits = { apps: 200, name: 80, description: 500, url: 2000, manifestBytes: 262_144 } as const;

const Id = z.string().min(1).max(100);
export const ById = z.object({ id: Id });
export const ByDelivery = z.object({ id: Id, delivery_id: Id });
export const ByChannel = z.object({ channel_id: z.string().max(200) });

const Url = z.string().trim().min(1).max(limits.url);
const Scopes = z.array(z.enum(scopes)).max(scopes.length);
const Events = z.array(z.enum(appEvents)).max(appEvents.length);

/** A manifest: the description that a program gives of itself. */
export const Manifest = z
  .object({
    name: z.string().trim().min(1).max(limits.name),
    description: z.string().trim().max(limits.description).default(""),
    /** `data:` address or http(s) address of a picture. */
    avatar: z.string().max(200_000).nullish(),
    /** Address that events are posted to; left out by an app that only calls. */
    url: Url.nullish(),
    scopes: Scopes.default([]),
    events: Events.default([]),
  })
  .meta({ id: "AppManifest" });
export type Manifest = z.output<typeof Manifest>;

export const NewApp = z
  .object({
    manifest: Manifest,
    /** Address that the manifest was loaded from. */
    manifest_url: Url.nullish(),
  })
  .meta({ id: "NewApp" });

export const AppEdit = z
  .object({
    name: Manifest.shape.name.optional(),
    description: z.string().trim().max(limits.description).optional(),
    avatar: Manifest.shape.avatar,
    url: Manifest.shape.url,
    scopes: Scopes.optional(),
    events: Events.optional(),
    enabled: z.boolean().optional(),
  })
  .meta({ id: "AppEdit" });
export type AppEdit = z.output<typeof AppEdit>;

export const App = z
  .object({
    id: z.string(),
    /** The account of its bot, as messages and mentions name it. */
    user_id: z.string(),
    name: z.string(),
    description: z.string(),
    avatar: z.string(),
    url: z.string().nullable(),
    manifest_url: z.string().nullable(),
    scopes: z.array(z.string()),
    events: z.array(z.string()),
    enabled: z.boolean(),
    disabled_reason: z.string().nullable(),
    /** Masked; null without a key. */
    key: z.object({ hint: z.string(), created_at: z.number() }).nullable(),
    channel_count: z.int(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "App" });
export type App = z.output<typeof App>;

/** The whole key and signing secret; each is shown once. */
export const AppSecrets = App.extend({
  api_key: z.string().optional(),
  signing_secret: z.string().optional(),
}).meta({ id: "AppSecrets" });
export type AppSecrets = z.output<typeof AppSecrets>;

export const ManifestAddress = z.object({ url: Url });

export const AppCatalogue = z
  .object({
    scopes: z.array(z.string()),
    events: z.array(z.object({ event: z.string(), scope: z.string().nullable() })),
    channels_enabled: z.boolean(),
  })
  .meta({ id: "AppCatalogue" });

const ChannelRef = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(["group", "dm"]).nullable(),
});

/** The app that a key belongs to. */
export const Self = z
  .object({
    id: z.string(),
    user_id: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
    channels: z.array(ChannelRef),
  })
  .meta({ id: "OwnApp" });

export const ChannelApp = z
  .object({
    id: z.string(),
    user_id: z.string(),
    name: z.string(),
    description: z.string(),
    avatar: z.string(),
    scopes: z.array(z.string()),
    enabled: z.boolean(),
  })
  .meta({ id: "ChannelApp" });

export const ChannelApps = z
  .object({
    installed: z.array(ChannelApp),
    /** For managers: apps that can be added. */
    available: z.array(ChannelApp),
    is_manager: z.boolean(),
  })
  .meta({ id: "ChannelApps" });

export const AppChoice = z.object({ app_id: Id });
