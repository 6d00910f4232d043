import type { DiskRoom } from "#kernel/disk.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { gauges } from "#kernel/gauges.ts";
import { fill, optional } from "#kernel/service.ts";
import { blobs, configuration, deployment, events, hostRecords, notices } from "#kernel/services.ts";
import { audit } from "#plugins/audit/service.ts";
import { readBuildFacts } from "./about/build.ts";
import { readLicense } from "./about/license.ts";
import { createBackup } from "./backup/backup.ts";
import { createHealth } from "./health/health.ts";
import { everySeconds } from "./health/history.ts";
import { createUpstreams } from "./health/upstreams.ts";
import { modelCallEnded } from "#kernel/completion/model-call.ts";
import { backupFacts } from "#plugins/backup/service.ts";
import { createRollCall } from "./health/roll-call.ts";
import { createPluginList } from "./plugins/plugin-list.ts";
import { operationRoutes } from "./routes.ts";

const page = { place: "admin", group: "server", access: "admin" } as const;

export default definePlugin({
  id: "operations",
  title: "Operations",
  summary: "Pages that show administrators the plugins, jobs, health and failures of this server.",
  uses: {
    audit: optional(audit),
    backups: optional(backupFacts),
    blobs,
    events,
    configuration,
    deployment,
    hostRecords,
    notices,
  },
  pages: [
    { ...page, id: "operations.plugins", path: "/admin/plugins", title: "Plugins", icon: "box", order: 68 },
    { ...page, id: "operations.jobs", path: "/admin/jobs", title: "Jobs", icon: "clock", order: 70 },
    { ...page, id: "operations.health", path: "/admin/health", title: "Health", icon: "activity", order: 75 },
  ],
  async setup({ use, db, log }) {
    const { hostRecords, configuration, deployment, notices, blobs } = use;
    const rollCall = createRollCall({ notices, deployment });
    const upstreams = createUpstreams(Date.now, (variable) => configuration.valueOf(variable));
    const health = createHealth({
      db,
      deployment,
      blobs,
      rollCall,
      queues: async () =>
        (await hostRecords.jobs()).map(({ id, title, waiting }) => ({ id, title, waiting })),
      backup: async () => await use.backups?.last(),
      upstreams: () => upstreams.list(),
    });
    let timer: NodeJS.Timeout | undefined;
    // The setting belongs to a plugin that may be left out; exports are allowed then.
    const mayExport = () => configuration.valueOr("ENABLE_ADMIN_EXPORT", true) === true;
    const takeBackup = createBackup({ deployment, mayExport });
    const build = readBuildFacts(configuration);
    const license = await readLicense(
      {
        key: String(configuration.valueOf("LICENSE_KEY") ?? ""),
        path: String(configuration.valueOf("LICENSE_BLOB_PATH")),
        publicKey: String(configuration.valueOf("LICENSE_PUBLIC_KEY")),
      },
      log,
    );
    return {
      routes: {
        api: operationRoutes({
          records: hostRecords,
          plugins: createPluginList({ records: hostRecords, configuration }),
          health,
          about: () => ({ build, license: license() }),
          backup: async () => {
            const answer = await takeBackup();
            await use.audit?.record({
              action: "database.downloaded",
              object: { type: "database", id: "embedded" },
            });
            return answer;
          },
          instance: deployment.instanceId,
          ran: async (id) => await use.audit?.record({ action: "job.started", object: { type: "job", id } }),
        }),
      },
      fills: [
        fill(gauges, {
          name: "disk_free_ratio",
          help: "Share of the disk of DATA_DIR that is left.",
          read: () => toRatio(deployment.disk()),
        }),
      ],
      async start() {
        use.events.on(modelCallEnded, upstreams.count);
        await rollCall.start();
        // A look fails by what it reports, never by an error.
        timer = setInterval(() => void health().catch(() => {}), everySeconds * 1000).unref();
      },
      stop: () => clearInterval(timer),
    };
  },
});

function toRatio(room: DiskRoom | undefined): number {
  return room ? room.free_bytes / room.total_bytes : Number.NaN;
}
