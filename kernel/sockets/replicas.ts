import { randomUUID } from "node:crypto";
import type { Bus } from "./bus.ts";
import { createOutbox } from "./outbox.ts";

/** One message of another replica: a kind, its arguments, and JSON that need not be read on the way. */
export type Received = (from: string, args: readonly string[], json: string) => void;

/** The other processes of this installation. */
export interface Replicas {
  /** This process among them. */
  readonly id: string;
  /** Sends to all others in the order of the calls; nothing goes out while there are none. */
  send(kind: string, args: readonly string[], json?: string): void;
  /** What a sender of much waits for before it sends more; undefined while nothing is in the way. */
  eased(): Promise<void> | undefined;
  on(kind: string, handler: Received): void;
  /** Ids of those that were heard of lately. */
  known(): readonly string[];
  /** True when there surely are no others. */
  areNone(): boolean;
  /** Runs when one has gone, by its own word or by silence. */
  onGone(handler: (id: string) => void): void;
  /** Says goodbye. */
  close(): Promise<void>;
}

export interface ReplicasOptions {
  readonly bus: Bus;
  log(message: string): void;
  readonly helloEveryMs?: number;
}

/** A newcomer is heard of within this time; until then everything is sent. */
const unsureMs = 5_000;

/** Joins the other replicas; resolves when messages of theirs arrive. */
export async function joinReplicas({ bus, log, helloEveryMs = 10_000 }: ReplicasOptions): Promise<Replicas> {
  const id = randomUUID();
  const seen = new Map<string, { heardAt: number; number: number }>();
  const handlers = new Map<string, Received>();
  const goneHandlers: ((id: string) => void)[] = [];
  let sureAt = Date.now() + unsureMs;
  const outbox = createOutbox({
    log,
    send: (text) => bus.send(text),
    pack: (lines, number) => [`${id} ${number}`, ...lines].join("\n"),
  });
  const say = (kind: string, args: readonly string[], json = "") =>
    outbox.push(`${JSON.stringify([kind, ...args])}\t${json}`);
  const forget = (gone: string) => {
    if (seen.delete(gone)) {
      goneHandlers.forEach((handler) => handler(gone));
    }
  };
  const receive = (text: string) => {
    const [head = "", ...lines] = text.split("\n");
    const [from = "", count] = head.split(" ");
    const number = Number(count);
    const known = seen.get(from);
    // A text whose sending seemed to fail is sent again.
    if (from === id || (known !== undefined && number <= known.number)) {
      return;
    }
    seen.set(from, { heardAt: Date.now(), number });
    for (const line of lines) {
      const at = line.indexOf("\t");
      const [kind = "", ...args] = JSON.parse(line.slice(0, at)) as string[];
      handlers.get(kind)?.(from, args, line.slice(at + 1));
    }
  };
  handlers.set("hello", (_from, [wants]) => wants === "answer" && say("hello", []));
  handlers.set("bye", forget);
  await bus.listen(receive, () => {
    // Whoever came meanwhile is not known, and whoever is known could not be heard.
    sureAt = Date.now() + unsureMs;
    seen.forEach((entry) => (entry.heardAt = Date.now()));
    say("hello", ["answer"]);
  });
  say("hello", ["answer"]);
  await outbox.drained(2_000);
  const beat = setInterval(() => {
    say("hello", []);
    const oldest = Date.now() - 3.5 * helloEveryMs;
    [...seen].filter(([, { heardAt }]) => heardAt < oldest).forEach(([silent]) => forget(silent));
  }, helloEveryMs).unref();
  const areNone = () => seen.size === 0 && Date.now() >= sureAt;
  return {
    id,
    areNone,
    send(kind, args, json) {
      if (!areNone()) {
        say(kind, args, json);
      }
    },
    eased: outbox.eased,
    on: (kind, handler) => void handlers.set(kind, handler),
    known: () => [...seen.keys()],
    onGone: (handler) => void goneHandlers.push(handler),
    async close() {
      clearInterval(beat);
      say("bye", []);
      await outbox.drained(1_000);
      await bus.close();
    },
  };
}

/** A process that shares its database with no other. */
export const alone: Replicas = {
  id: "alone",
  send() {},
  eased: () => undefined,
  on() {},
  known: () => [],
  areNone: () => true,
  onGone() {},
  close: async () => {},
};
