import type { Logger } from "#kernel/log.ts";
import { toShortArguments } from "./batching/arguments.ts";
import { Call } from "./host/call.ts";
import type { Cell } from "./host/cell.ts";
import { createConsoles } from "./host/console.ts";
import { iterate } from "./host/iterate.ts";
import { createOverruns } from "./host/overruns.ts";
import { limits } from "./limits.ts";
import { createPool } from "./host/pool.ts";
import { createQuickLane } from "./batching/quick.ts";
import type { Realm } from "./host/realm.ts";
import type { CallOptions, Json, Sandbox, SandboxError, Script } from "#kernel/sandbox.ts";
import { openChain, openLinks } from "./batching/stream.ts";
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
  spares(): number;
  /** Drops what the budget does not allow; happens by itself after each load. */
  settle(): Promise<void>;
}

/** Opens the sandbox: isolates are made when code is called and dropped when nobody needs them. */
export function createSandbox({ log, budgetMegabytes }: SandboxOptions): OpenSandbox {
  const consoles = createConsoles();
  const overruns = createOverruns();
  const stripper = createStripper();

  const onGone = (cell: Cell<Realm>, culprit: Realm | undefined, reason: string) => {
    const function_ = culprit?.id;
    log.warn(
      { function: function_, owner: cell.owner, reason },
      "an isolate was ended; the next call gets another",
    );
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

  const quick = createQuickLane(pool, overruns);

  async function onThread(script: Script, options: CallOptions, text?: string): Promise<Json | undefined> {
    const realm = await pool.realm(script, "calls");
    return new Promise((done, failed) => {
      new Call({ realm, options, text, outcome: { done, failed }, log, overran }).start(false);
    });
  }

  // One promise and no more: hooks are called for every request.
  const call = (script: Script, options: CallOptions) =>
    new Promise<Json | undefined>((done, failed) => {
      // A name that spans lines is no export's, and would not cross with others.
      if (!options.isHook || options.name.includes("\n") || !quick.takes(script)) {
        done(onThread(script, options));
        return;
      }
      const args = toShortArguments(options.args);
      const whole = args.places.length === 0 ? args.texts : undefined;
      const afresh = () => done(onThread(script, options, whole && `[${whole.join(",")}]`));
      if (args.length + (options.shared?.length ?? 0) > limits.quickLength) {
        afresh();
      } else {
        quick.begin(script, { options, args, done, failed, afresh });
      }
    });

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
    spares: () => pool.spares(),
    settle: () => pool.trim(),
  };
}

/** The frames of what runs around the code say nothing to its author. */
function withoutInside(text: string): string {
  return text.includes("<isolated-vm>") ? text.replaceAll(/\n {4}at [^\n]*<isolated-vm>[^\n]*/g, "") : text;
}
