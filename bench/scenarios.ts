import type { Scenario } from "./scenario.ts";
import { abandonedStreams } from "./scenarios/abandoned-streams.ts";
import { afterPause } from "./scenarios/after-pause.ts";
import { busyDatabase } from "./scenarios/busy-database.ts";
import { channelMessages } from "./scenarios/channel-messages.ts";
import { chatAppend } from "./scenarios/chat-append.ts";
import { chatRuns } from "./scenarios/chat-runs.ts";
import { fanOut } from "./scenarios/fan-out.ts";
import { filtered } from "./scenarios/filtered.ts";
import { joinedDeltas } from "./scenarios/joined-deltas.ts";
import { longChats } from "./scenarios/long-chats.ts";
import { manyStreams } from "./scenarios/many-streams.ts";
import { memory } from "./scenarios/memory.ts";
import { passThrough } from "./scenarios/pass-through.ts";
import { peerGateway } from "./scenarios/peer-gateway.ts";
import { peerRouter } from "./scenarios/peer-router.ts";
import { plainRoutes } from "./scenarios/plain-routes.ts";
import { provisioning } from "./scenarios/provisioning.ts";
import { largeCollection } from "./scenarios/questions.ts";
import { readingChats } from "./scenarios/reading-chats.ts";
import { sandboxCalls } from "./scenarios/sandbox.ts";
import { fiveSandboxed, sandboxed } from "./scenarios/sandboxed.ts";
import { schedules } from "./scenarios/schedules.ts";
import { streamed } from "./scenarios/streamed.ts";
import { toolCalls } from "./scenarios/tools.ts";
import { nearestVectors } from "./scenarios/vectors.ts";
import { webPage } from "./scenarios/web-page.ts";
import { whole } from "./scenarios/whole.ts";

/** Every scenario, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  passThrough,
  streamed,
  filtered,
  sandboxed,
  fiveSandboxed,
  joinedDeltas,
  whole,
  afterPause,
  peerGateway,
  peerRouter,
  manyStreams,
  abandonedStreams,
  busyDatabase,
  chatAppend,
  chatRuns,
  toolCalls,
  readingChats,
  longChats,
  fanOut,
  plainRoutes,
  sandboxCalls,
  memory,
  webPage,
  nearestVectors,
  largeCollection,
  provisioning,
  schedules,
  channelMessages,
];
