import { Call, type CallParts } from "./call.ts";
import { limits } from "../limits.ts";
import type { Json } from "#kernel/sandbox.ts";

const mostItems = 32;

/**
 * The items of a call's answer as they come: those of a generator, or the answer itself. The code is asked for more only
 * when everything that came was taken; the more of it is taken, the more is asked for at once.
 */
export async function* iterate(
  parts: Omit<CallParts, "outcome">,
): AsyncGenerator<Json | undefined, void, void> {
  const ready: Json[] = [];
  const state = { isBegun: false, isOver: false, error: undefined as unknown, isPulling: false };
  let wake = () => {};
  const tell = (change: Partial<typeof state>, items: readonly Json[] = []) => {
    Object.assign(state, change);
    ready.push(...items);
    wake();
  };
  const call = new Call({
    ...parts,
    outcome: {
      // A generator's end comes as a `done` without an answer.
      done: (answer) => tell({ isOver: true }, answer === undefined ? [] : [answer]),
      failed: (error) => tell({ isOver: true, error: error ?? new Error("The call failed.") }),
      begun: () => tell({ isBegun: true }),
      items: (items, isFull) => tell(isFull ? { isPulling: false } : {}, items),
    },
  });
  const itemMs = parts.options.deadlineMs ?? limits.itemMs;
  let count = 1;
  call.start(true);
  try {
    for (;;) {
      yield* ready.splice(0);
      if (ready.length === 0 && state.isOver) {
        break;
      }
      if (ready.length > 0) {
        continue;
      }
      if (state.isBegun && !state.isPulling) {
        state.isPulling = true;
        call.pull(count);
        count = Math.min(count * 2, mostItems);
      }
      call.within(itemMs);
      await new Promise<void>((resolve) => (wake = resolve));
      call.wait();
    }
    if (state.error !== undefined) {
      throw state.error;
    }
  } finally {
    call.stop();
  }
}
