import type { ShownReply, TalkedChat } from "#plugins/web/kit/talked-chat.ts";

/** Resolves once `find`, whose reads are followed, finds something; to undefined after `patienceMs`. */
function awaitFound<T>(find: () => T | undefined, patienceMs: number): Promise<T | undefined> {
  return new Promise((resolve) => {
    let stop: (() => void) | undefined;
    const finish = (found: T | undefined) => {
      clearTimeout(timer);
      resolve(found);
      // An effect may find it while it is still being made.
      queueMicrotask(() => stop?.());
    };
    const timer = setTimeout(() => finish(undefined), patienceMs);
    stop = $effect.root(() => {
      $effect(() => {
        const found = find();
        if (found !== undefined) {
          finish(found);
        }
      });
    });
  });
}

const replyPatienceMs = 30_000;
const restPatienceMs = 10_000;
const endPatienceMs = 600_000;

/** The reply that comes after the one of that id. */
export const awaitReply = (
  chat: Pick<TalkedChat, "lastReply">,
  before: string | undefined,
): Promise<ShownReply | undefined> =>
  awaitFound(() => (chat.lastReply?.id === before ? undefined : chat.lastReply), replyPatienceMs);

/** Resolves when nothing is written in the chat any more. */
export async function awaitRest(chat: Pick<TalkedChat, "isRunning">): Promise<void> {
  await awaitFound(() => (chat.isRunning ? undefined : true), restPatienceMs);
}

/** Resolves when the reply is complete. */
export async function awaitEnd(reply: Pick<ShownReply, "isWriting">): Promise<undefined> {
  await awaitFound(() => (reply.isWriting ? undefined : true), endPatienceMs);
}
