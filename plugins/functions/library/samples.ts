import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Selectable } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import type { Loader } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { DryRunForm, SampleForm, SampleRun } from "../schema.ts";
import type { FunctionSampleTable, FunctionsDatabase } from "../tables.ts";
import type { DryRun } from "./dry-run.ts";
import type { FunctionRow } from "./function-store.ts";

export interface SamplesParts {
  readonly db: FunctionsDatabase;
  readonly functions: Loader<FunctionRow>;
  readonly dryRun: DryRun;
}

/** Samples that a function keeps, and bytes of one. */
const most = 50;
const maxBytes = 256 * 1024;

/** Calls of a function with the results that its author expects; each save runs them. */
export function createSamples({ db, functions, dryRun }: SamplesParts) {
  const listOf = async (id: string) =>
    await db
      .selectFrom("function_sample")
      .selectAll()
      .where("function_id", "=", id)
      .orderBy("created_at")
      .orderBy("id")
      .execute();

  async function runAll(caller: Principal, row: FunctionRow, { content, signal }: RunOptions) {
    const runs: SampleRun[] = [];
    // One after another: they share the isolate of this author's dry runs.
    for (const sample of await listOf(row.id)) {
      const form = { ...(sample.call as Omit<DryRunForm, "content">), content: content ?? row.content };
      const { result, error, time_ms } = await dryRun(caller, form, signal);
      const passed = error === null && isDeepStrictEqual(result, sample.expected);
      runs.push({ id: sample.id, name: sample.name, passed, result, error, time_ms });
    }
    return runs;
  }

  return {
    async list(caller: Principal, id: string) {
      const { id: functionId } = await functions.load(caller, id, "write");
      return (await listOf(functionId)).map(toSample);
    },
    async add(caller: Principal, id: string, form: SampleForm) {
      const row = await functions.load(caller, id, "write");
      if (Buffer.byteLength(JSON.stringify(form)) > maxBytes) {
        throw new AppError("too_large", `A sample may take at most ${maxBytes} bytes.`);
      }
      if ((await listOf(row.id)).length >= most) {
        throw new AppError("invalid", `A function keeps at most ${most} samples. Take one away first.`);
      }
      const { name, expected, ...call } = form;
      const added = await db
        .insertInto("function_sample")
        .values({
          id: randomUUID(),
          function_id: row.id,
          name,
          call: toJson(call),
          expected: toJson<unknown>(expected ?? null),
          user_id: caller.userId,
          created_at: seconds(),
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return toSample(added);
    },
    async run(caller: Principal, id: string, options: RunOptions) {
      return await runAll(caller, await functions.load(caller, id, "write"), options);
    },
    async remove(caller: Principal, id: string, sample: string) {
      const row = await functions.load(caller, id, "write");
      const gone = await db
        .deleteFrom("function_sample")
        .where("function_id", "=", row.id)
        .where("id", "=", sample)
        .returning("id")
        .executeTakeFirst();
      if (gone === undefined) {
        throw new AppError("not_found", "Not found");
      }
      return true as const;
    },
  };
}

interface RunOptions {
  /** Unsaved code; the stored one when left out. */
  readonly content?: string | undefined;
  readonly signal: AbortSignal;
}

export type Samples = ReturnType<typeof createSamples>;

function toSample({ id, name, call, expected, created_at }: Selectable<FunctionSampleTable>) {
  return { id, name, ...(call as Omit<SampleForm, "name" | "expected">), expected, created_at };
}
