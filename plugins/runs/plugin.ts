import { AppError } from "#kernel/errors.ts";
import { randomUUID } from "node:crypto";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, provide } from "#kernel/service.ts";
import { deployment, events, notices } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { chats, replies } from "#plugins/chats/service.ts";
import {
  chatAccess,
  chatRuns,
  completions,
  fileAccess,
  messagePictures,
} from "#plugins/completions/service.ts";
import { files } from "#plugins/files/service.ts";
import { createChatAccess } from "./request/chat-access.ts";
import { createCheckpoints } from "./reply/checkpoints.ts";
import { runVariables } from "./config.ts";
import { createEndedRuns } from "./live/ended-runs.ts";
import { createLiveRuns } from "./live/live-runs.ts";
import { createRuns } from "./migrations/0001_runs.ts";
import { addRunStops } from "./migrations/0002_run_stops.ts";
import { claimTemporaryMessages } from "./migrations/0003_temporary_runs.ts";
import { endOrphan } from "./leases/orphans.ts";
import { createLease } from "./leases/lease.ts";
import { inlinePictures } from "./history/pictures.ts";
import { createResume } from "./live/resume.ts";
import { createReplyWriter } from "./rounds/write-reply.ts";
import { taskRoutes } from "./routes.ts";
import {
  codeInterpreters,
  historySteps,
  replyWriter,
  runAgents,
  runControl,
  runLimits,
  runFollowUps,
} from "./service.ts";
import { createStarter } from "./request/start.ts";
import type { RunTables } from "./tables.ts";
import { createTasks } from "./live/tasks.ts";

export default definePlugin({
  id: "runs",
  title: "Chat-bound runs",
  summary: "Writes replies into chats, on the server's own account, until they are done.",
  config: runVariables,
  provides: [runControl, replyWriter],
  uses: {
    accounts,
    agents: runAgents,
    chats,
    completions,
    deployment,
    events,
    files,
    followUps: runFollowUps,
    history: historySteps,
    hub,
    interpreters: codeInterpreters,
    limits: runLimits,
    notices,
    replies,
  },
  tables: tables<RunTables>("chat_run", "chat_run_owner"),
  migrations: {
    "0001_runs": createRuns,
    "0002_run_stops": addRunStops,
    "0003_temporary_runs": claimTemporaryMessages,
  },

  setup({ config, use, db, log, signal }) {
    const ended = createEndedRuns();
    const live = createLiveRuns(ended.keep);
    const checkpoints = createCheckpoints({ replies: use.replies, log, signal });
    const { instanceId, database } = use.deployment;
    const lease = createLease({
      db,
      // Its own: INSTANCE_ID may stay the same over a restart, and runs of the dead process would pass for this one's.
      id: randomUUID(),
      log,
      isAlone: database === "embedded",
      live,
      orphaned: (run) => endOrphan(run, { ...use, log }),
    });
    const parts = { ...use, log, checkpoints, lease, settings: () => config };
    const tasks = createTasks({ db, live, lease, chats: use.chats, notices: use.notices });
    const stopUser = async ({ subject }: { subject: { id: string } | null }) => {
      if (subject && (await use.accounts.principalOf(subject.id)) === undefined) {
        await tasks.stopUser(subject.id);
      }
    };
    use.events.on("user.deleted", stopUser);
    use.events.on("user.role_updated", stopUser);
    return {
      routes: { main: taskRoutes(tasks) },
      sockets: {
        "chat:resume": createResume({ parts, live, ended, instanceId, isUnderWay: tasks.isUnderWay }),
      },
      services: [
        provide(runControl, { stopChat: tasks.stopChat }),
        provide(replyWriter, createReplyWriter(parts)),
      ],
      fills: [
        fill(chatRuns, createStarter(parts, live)),
        fill(chatAccess, createChatAccess(use.chats)),
        fill(fileAccess, {
          async require(principal, fileId) {
            await use.files.load(principal, fileId, "read").catch(hideForbidden);
          },
        }),
        fill(messagePictures, {
          inline: (messages, principal) =>
            inlinePictures(messages, principal, { files: use.files, byExtension: config.typesByExtension }),
        }),
      ],
      async start() {
        await tasks.start();
        lease.start();
      },
      drain: (graceMs) => live.drain(graceMs),
      stop: () => lease.stop(),
    };
  },
});

/** A foreign file is as unknown as one that does not exist. */
function hideForbidden(error: unknown): never {
  throw error instanceof AppError && /^(?:forbidden|not_found)$/.test(error.code)
    ? new AppError("not_found", "File not found")
    : error;
}
