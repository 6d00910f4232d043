import type { ConfigRegistry } from "#config/registry.ts";
import type { Blobs } from "#storage/blobs.ts";
import type { Database, DatabaseCopy } from "#storage/database.ts";
import type { Grants } from "#storage/grants.ts";
import type { LargeNotices } from "#storage/large-notices.ts";
import type { VectorStore } from "#storage/vectors.ts";
import type { Permission } from "./access/permissions.ts";
import type { ModelProvider } from "./completion/provider.ts";
import type { DiskRoom } from "./disk.ts";
import type { Egress } from "./egress/egress.ts";
import type { Events } from "./events.ts";
import type { OwnedRoute } from "./http/bind.ts";
import type { OwnListener } from "./http/own-listeners.ts";
import type { OwnInstallation } from "./installation.ts";
import type { JobRecord } from "./job-records.ts";
import type { Jobs } from "./jobs.ts";
import type { Page } from "./page.ts";
import type { OwnedFilter } from "./pipeline/filter.ts";
import type { PluginRecord } from "./plugin-records.ts";
import type { RecentError } from "./recent-errors.ts";
import { defineService, defineSlot } from "./service.ts";
import type { ToolRegistry } from "./tools/registry.ts";

// Services of the kernel; plugins name them in `uses` like any other service.

/** The one outbound client. */
export const egress = defineService<Egress>("kernel.egress");
/** Stored bytes. */
export const blobs = defineService<Blobs>("kernel.blobs");
/** Access grants of rows. */
export const grants = defineService<Grants>("kernel.grants");
/** Typed announcements inside this process. */
export const events = defineService<Events>("kernel.events");
/** Durable jobs. */
export const jobs = defineService<Jobs>("kernel.jobs");
/** Every tool, by who may use it. */
export const toolRegistry = defineService<ToolRegistry>("kernel.tools");
/** All settings with where their values come from. */
export const configuration = defineService<ConfigRegistry>("kernel.configuration");

/** Announcements between processes over the database (payloads below 8,000 bytes). */
export interface Notices {
  notify(channel: string, payload: unknown): Promise<void>;
  /** `onGap` runs when announcements may have been missed: caches must be dropped. */
  listen(channel: string, handler: (payload: unknown) => void, onGap: () => void): Promise<void>;
  /** False while announcements are being missed: what must not be out of date is read anew. */
  isHearing(): boolean;
}
export const notices = defineService<Notices>("kernel.notices");

/** Opens a channel between processes for texts of any size. */
export type OpenLargeNotices = (channel: string) => LargeNotices;
export const largeNotices = defineService<OpenLargeNotices>("kernel.large-notices");

/** Opens the vectors in a table that `createVectorTable` made. */
export type OpenVectors = (table: string) => Promise<VectorStore>;
export const vectorStores = defineService<OpenVectors>("kernel.vector-stores");

/** Facts about this process and its parts. */
export interface Deployment {
  readonly version: string;
  readonly instanceId: string;
  readonly deploymentId: string;
  readonly name: string;
  readonly isDev: boolean;
  /** Resolves when the database answers, files can be written and every health check passes; the error names the part. */
  ping(): Promise<void>;
  /** The same of the database alone. */
  pingDatabase(): Promise<void>;
  /** Room on the disk of DATA_DIR; undefined when it cannot be read. */
  disk(): DiskRoom | undefined;
  /** False until everything started, and again as soon as a stop was asked for. */
  isReady(): boolean;
  /** The secret that signs sessions (contract D.10). */
  readonly secretKey: string;
  readonly database: Database["kind"];
  /** Resolves to what tells this deployment's database from all others; the same on every replica. */
  databaseId(): Promise<string>;
  /** Copies the embedded database as it is now; for a server it throws. */
  copyDatabase(): Promise<DatabaseCopy>;
}
export const deployment = defineService<Deployment>("kernel.deployment");
/** What a backup is made of. */
export const installation = defineService<OwnInstallation>("kernel.installation");

/** A page of a plugin of this process. */
export interface DeclaredPage {
  readonly plugin: string;
  readonly page: Page;
  /** The plugin's folder when it comes from PLUGINS_PATH: its modules are served as they stand there. */
  readonly folder: string | undefined;
  /** False while the plugin is switched off, and when it could not be set up. */
  isEnabled(): boolean;
}

/** Declarations of the enabled plugins, readable once all are set up. */
export interface Declarations {
  permissions(): readonly Permission[];
  providers(): readonly ModelProvider[];
  /** Filters and sources of filters, each with its plugin's switch. */
  filters(): readonly OwnedFilter[];
  resources(): readonly string[];
  /** The pages of all plugins, also those switched off; known from the beginning. */
  pages(): readonly DeclaredPage[];
  /** The routes of all plugins. */
  routes(): readonly OwnedRoute[];
  /** Ids of the plugins of this process and whether each is switched on now. */
  plugins(): readonly { id: string; title: string; enabled: boolean }[];
}
export const declarations = defineService<Declarations>("kernel.declarations");

/** Facts of the host about itself, for administrators. */
export interface HostRecords {
  /** The plugins of this process and those that were left out. */
  plugins(): readonly PluginRecord[];
  jobs(): Promise<readonly JobRecord[]>;
  /** Queues a run of a scheduled job at once. */
  runJob(id: string): Promise<"queued" | "unknown" | "unscheduled" | "off">;
  /** The last failures of this process, newest first. */
  errors(): readonly RecentError[];
}
export const hostRecords = defineService<HostRecords>("kernel.host-records");

/** Surfaces that listen on an address of their own. */
export const ownListeners = defineSlot<OwnListener>("kernel.own-listeners");

/** A part that the platform cannot serve without. */
export interface HealthCheck {
  /** As it begins a sentence, such as "Redis". */
  readonly part: string;
  /** Rejects when the part does not answer. */
  check(): Promise<void>;
}
export const healthChecks = defineSlot<HealthCheck>("kernel.health-checks");
