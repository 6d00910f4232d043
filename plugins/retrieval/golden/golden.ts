import type { Principal } from "#kernel/access/principal.ts";
import type { Access } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import type { Retrieval } from "../service.ts";
import type { GoldenStore, QuestionRow } from "./golden-store.ts";
import { requireScope, toSettings } from "./lab.ts";
import { findRank, summarize } from "./ranks.ts";
import type { GoldenQuestion, GoldenRun, NewQuestion, NewRun, QuestionResult } from "./schema.ts";

export interface GoldenParts {
  readonly store: GoldenStore;
  readonly access: Access;
  readonly retrieval: Pick<Retrieval, "scope" | "search">;
}

/** So many questions one person keeps: a run asks them one after another. */
const maxQuestions = 200;

export type Golden = ReturnType<typeof createGolden>;

/** Questions of a person with the passages that answer them, and how well searches find those. */
export function createGolden({ store, access, retrieval }: GoldenParts) {
  const rows = access.loader<QuestionRow>({
    type: "golden_question",
    find: store.find,
    ownerOf: ({ user_id: userId }) => userId,
  });

  return {
    async list({ userId }: Principal): Promise<GoldenQuestion[]> {
      return (await store.list(userId)).map(toQuestion);
    },

    async add(caller: Principal, question: NewQuestion): Promise<GoldenQuestion> {
      requireScope(question);
      await retrieval.scope(caller, question);
      if ((await store.list(caller.userId)).length >= maxQuestions) {
        throw new AppError("invalid", `A golden set has at most ${maxQuestions} questions.`);
      }
      return toQuestion(await store.add(caller.userId, question));
    },

    async change(caller: Principal, id: string, question: NewQuestion): Promise<GoldenQuestion> {
      await rows.load(caller, id, "write");
      requireScope(question);
      await retrieval.scope(caller, question);
      const changed = await store.change(id, question);
      if (changed === undefined) {
        throw new AppError("not_found", "Question not found");
      }
      return toQuestion(changed);
    },

    async remove(caller: Principal, id: string): Promise<boolean> {
      await rows.load(caller, id, "write");
      await store.remove(id);
      return true;
    },

    /** Asks all questions, one after another: a run must not crowd out those who chat. */
    async run(caller: Principal, wanted: NewRun, signal: AbortSignal): Promise<GoldenRun> {
      const results: QuestionResult[] = [];
      for (const row of await store.list(caller.userId)) {
        results.push(await ask(row, { retrieval, caller, run: wanted, signal }));
      }
      if (results.length === 0) {
        throw new AppError("invalid", "There is no question yet: keep one first.");
      }
      const id = await store.addRun(caller.userId, { ...wanted, results });
      const made = (await readRuns(caller)).find((run) => run.id === id);
      if (made === undefined) {
        throw new AppError("not_found", "Run not found");
      }
      return made;
    },

    runs: readRuns,
  };

  /** Newest first, each with what changed since the one before. */
  async function readRuns({ userId }: Principal): Promise<GoldenRun[]> {
    const stored = await store.runs(userId);
    return stored.map(({ id, created_at: at, settings, k, results }, index) => ({
      id,
      created_at: at,
      settings,
      k,
      results: [...results],
      ...summarize({ k, results }, stored[index + 1]),
    }));
  }
}

interface Asking {
  readonly retrieval: GoldenParts["retrieval"];
  readonly caller: Principal;
  readonly run: NewRun;
  readonly signal: AbortSignal;
}

/** Asks one question; what keeps it from being asked is part of the result. */
async function ask(row: QuestionRow, { retrieval, caller, run, signal }: Asking): Promise<QuestionResult> {
  const facts = { question_id: row.id, question: row.question };
  const begun = performance.now();
  try {
    const { passages } = await retrieval.search({
      // Asked anew each time: what the person may no longer read is not searched.
      scope: await retrieval.scope(caller, { files: row.files, collections: row.collections }),
      queries: [row.question],
      settings: { ...toSettings(run.settings), topK: Math.max(run.k, run.settings.top_k ?? 0) },
      signal,
    });
    const ms = Math.round(performance.now() - begun);
    return { ...facts, rank: findRank(passages, row.expected), ms };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError)) {
      throw error;
    }
    return { ...facts, rank: null, ms: 0, error: error.message };
  }
}

function toQuestion({ user_id: _owner, expected, ...question }: QuestionRow): GoldenQuestion {
  return { ...question, expected: [...expected] };
}
