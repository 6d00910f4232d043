import { definePlugin, tables } from "#kernel/plugin.ts";
import { provide } from "#kernel/service.ts";
import { configuration } from "#kernel/services.ts";
import { answerExport } from "./export.ts";
import { createAuditRecord } from "./migrations/0001_audit.ts";
import { auditRoutes } from "./routes.ts";
import { audit } from "./service.ts";
import { toSettingEntry } from "./setting-entry.ts";
import { appendRecord, listChoices, listHistory, listRecords } from "./store.ts";
import type { AuditDatabase, AuditTables } from "./tables.ts";

export default definePlugin({
  id: "audit",
  title: "Audit",
  summary: "An append-only record of what administrators do.",
  uses: { configuration },
  provides: [audit],
  tables: tables<AuditTables>("audit_record"),
  pages: [
    {
      id: "audit",
      path: "/admin/audit",
      title: "Audit log",
      icon: "log",
      place: "admin",
      group: "server",
      order: 80,
      access: "admin",
    },
  ],
  migrations: { "0001_audit": createAuditRecord },

  setup({ db, use }) {
    // The setting belongs to a plugin that may be left out; exports are allowed then.
    const mayExport = () => use.configuration.valueOr("ENABLE_ADMIN_EXPORT", true) === true;
    use.configuration.recordChanges(async (changes, { by, transaction }) => {
      for (const change of changes) {
        await appendRecord((transaction ?? db) as AuditDatabase, toSettingEntry(change, by));
      }
    });
    return {
      services: [
        provide(audit, {
          record: (entry, transaction = db) => appendRecord(transaction, entry),
          history: (object, limit) => listHistory(db, object, limit),
        }),
      ],
      routes: {
        api: auditRoutes({
          list: (query) => listRecords(db, query),
          choices: () => listChoices(db),
          export: (filter) => answerExport(db, filter),
          mayExport,
        }),
      },
    };
  },
});
