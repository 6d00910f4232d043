import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Slot } from "#kernel/service.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Chats, Replies } from "#plugins/chats/service.ts";
import type { Completions } from "#plugins/completions/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { Checkpoints } from "./reply/checkpoints.ts";
import type { Lease } from "./leases/lease.ts";
import type { AgentSource, CodeInterpreter, HistoryStep, RunFollowUp, RunLimit } from "./service.ts";

/** Live settings of runs. */
export interface RunSettings {
  readonly maxIterations: number;
  readonly stopsRepeats: boolean;
  readonly savesEveryChunk: boolean;
  readonly convertsPictures: boolean;
  readonly typesByExtension: boolean;
}

/** What runs are made of. */
export interface RunParts {
  readonly agents: Slot<AgentSource>;
  readonly chats: Chats;
  readonly checkpoints: Checkpoints;
  readonly completions: Completions;
  readonly events: Events;
  readonly files: Files;
  readonly followUps: Slot<RunFollowUp>;
  readonly history: Slot<HistoryStep>;
  readonly hub: Hub;
  readonly interpreters: Slot<CodeInterpreter>;
  readonly limits: Slot<RunLimit>;
  readonly log: Logger;
  readonly replies: Replies;
  readonly lease: Lease;
  settings(): RunSettings;
}
