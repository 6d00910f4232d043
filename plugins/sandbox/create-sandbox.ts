import type { Logger } from "#kernel/log.ts";
import { Call } from "./host/call.ts";
import type { Cell } from "./host/cell.ts";
import { createConsoles } from "./host/console.ts";
import { iterate } from "./host/iterate.ts";
import { createOverruns } from "./host/overruns.ts";
import { limits } from "./limits.ts";
import { createPool } from "./host/pool.ts";
import { createInlineExecutor } from "./host/inline-executor.ts";
import { toArguments } from "./host/message.ts";
import type { Realm } from "./host/realm.ts";
import type { CallOptions, Json, Sandbox, SandboxError, Script } from "#kernel/sandbox.ts";
import { openChain, openLinks } from "./batching/stream-chain.ts";
import { createStripper } from "./host/typescript.ts";

export interface SandboxOptions {
  readonly log: Logger;
  /** Megabytes that idle isolates may hold together. */
  budgetMegabytes(): number;
}

/** The sandbox, and what it holds now. */
export interface OpenSandbox extends Sandbox {
  isolates(): number;
  /** Isolates that wait for an owner. */
  warm(): number;
  /** Drops what the budget does not allow; happens by itself after each load. */
  settle(): Promise<void>;
}

/** Opens the sandbox: isolates are made when code is called, and dropped when they are idle and memory is short. */
export function createSandbox({ log, budgetMegabytes }: SandboxOptions): OpenSandbox {
  const consoles = createConsoles();
  const overruns = createOverruns();
  const stripper = createStripper();

  const onGone = (cell: Cell<Realm>, culprit: Realm | undefined, reason: string) => {
    const about = { function: culprit?.id, owner: cell.owner, reason };
    log.warn(about, "an isolate was ended; the next call gets another");
    const isGiven = reason === "memory" && cell.given > limits.givenLength;
    if (culprit && !isGiven) {
      overruns.add(
        culprit.id,
        reason === "memory" ? "It used too much memory." : "It could not be stopped in time.",
      );
    }
  };
  const pool = createPool({
    stripper,
    budgetMegabytes,
    log: (id, level, text) => consoles.write(id, level, withoutInside(text)),
    onGone,
  });

  /** The context that overran is replaced: what it left undone must not trouble the next call. */
  const overran = (realm: Realm, error: SandboxError, heldMs?: number) => {
    realm.retire();
    overruns.add(realm.id, error.message, heldMs);
  };

  const inline = createInlineExecutor(pool, overruns);

  async function callOnThread(
    script: Script,
    options: CallOptions,
    args?: readonly string[],
  ): Promise<Json | undefined> {
    const realm = await pool.realm(script, "calls");
    return new Promise((done, failed) => {
      new Call({ realm, options, args, outcome: { done, failed }, log, overran }).start(false);
    });
  }

  async function call(script: Script, options: CallOptions): Promise<Json | undefined> {
    if (!options.isHook || !inline.allows(script)) {
      return callOnThread(script, options);
    }
    const args = toArguments(options.args);
    const length = args.reduce((sum, text) => sum + text.length, options.shared?.length ?? 0);
    if (length > limits.inlineLength) {
      return callOnThread(script, options, args);
    }
    return new Promise((done, failed) => {
      const fallBackToThread = () => done(callOnThread(script, options, args));
      inline.run(script, { options, args, done, failed, fallBackToThread });
    });
  }

  async function* iterateOver(
    script: Script,
    options: CallOptions,
  ): AsyncGenerator<Json | undefined, void, void> {
    yield* iterate({ realm: await pool.realm(script, "calls"), options, log, overran });
  }

  return {
    async load(script) {
      return (await pool.realm(script, "calls")).shape;
    },
    call,
    iterate: iterateOver,

    openStream: async (links) => openChain({ ...(await openLinks(pool, links)), log, overran }),

    logs: consoles.lines,
    note: consoles.write,
    forget(id) {
      consoles.forget(id);
      pool.forget(id);
    },
    onRepeatedOverrun: overruns.onRepeated,
    async close() {
      pool.close();
      stripper.close();
    },
    isolates: () => pool.cells().length,
    warm: () => pool.warm(),
    settle: () => pool.trim(),
  };
}

/** The frames of what runs around the code say nothing to its author. */
function withoutInside(text: string): string {
  return text.includes("<isolated-vm>") ? text.replaceAll(/\n {4}at [^\n]*<isolated-vm>[^\n]*/g, "") : text;
}
