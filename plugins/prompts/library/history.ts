import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { PromptParts } from "../parts.ts";
import type { HistoryRow, PromptRow } from "../tables.ts";
import { deleteVersion, findVersion, pageVersions } from "./history-store.ts";
import { toLineDiff } from "./line-diff.ts";
import { lockPrompt } from "./prompt-store.ts";

export type History = ReturnType<typeof createHistory>;

/** The versions of a prompt, for those who may change it: drafts and withdrawn texts are not the readers'. */
export function createHistory({ db, transaction, accounts, prompts }: PromptParts) {
  async function show(prompt: PromptRow, rows: readonly HistoryRow[]) {
    const people = await accounts.summaries(rows.map(({ user_id }) => user_id));
    return rows.map(({ seq: _seq, ...row }) => ({
      ...row,
      user: people.get(row.user_id) ?? null,
      is_production: row.id === prompt.version_id,
    }));
  }

  return {
    async page(caller: Principal, id: string, page: number) {
      const prompt = await prompts.load(caller, id, "write");
      return await show(prompt, await pageVersions(db, id, page));
    },

    async get(caller: Principal, id: string, versionId: string) {
      const prompt = await prompts.load(caller, id, "write");
      const [shown] = await show(prompt, [await findVersion(db, id, versionId)]);
      return shown as NonNullable<typeof shown>;
    },

    async remove(caller: Principal, id: string, versionId: string): Promise<true> {
      await prompts.load(caller, id, "write");
      await transaction(async (tx) => {
        const prompt = await lockPrompt(tx, id);
        const version = await findVersion(tx, id, versionId);
        if (prompt.version_id === versionId) {
          throw new AppError("invalid", "This version is in use. Put another one into use first.");
        }
        await deleteVersion(tx, version);
      });
      return true;
    },

    async diff(
      caller: Principal,
      id: string,
      { from, to }: { from: string | undefined; to: string | undefined },
    ) {
      await prompts.load(caller, id, "write");
      if (from === undefined || to === undefined) {
        throw new AppError(
          "unprocessable",
          `${from === undefined ? "from_id" : "to_id"}: names the version to compare.`,
        );
      }
      const [before, after] = await Promise.all([findVersion(db, id, from), findVersion(db, id, to)]);
      return {
        from_id: from,
        to_id: to,
        from_snapshot: before.snapshot,
        to_snapshot: after.snapshot,
        content_diff: toLineDiff(before.snapshot.content, after.snapshot.content),
        name_changed: before.snapshot.name !== after.snapshot.name,
      };
    },
  };
}
