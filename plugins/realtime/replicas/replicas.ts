import { randomUUID } from "node:crypto";
import type { Bus } from "./bus.ts";
import { createOutbox } from "./outbox.ts";
import { createMembership } from "./membership.ts";

/** One message of another replica: a kind, its arguments, and JSON that need not be read on the way. */
export type Received = (from: string, args: readonly string[], json: string) => void;

/** The other processes of this installation. */
export interface Replicas {
  /** This process among them. */
  readonly id: string;
  /** Sends to all others in the order of the calls; nothing goes out while there are none. */
  send(kind: string, args: readonly string[], json?: string): void;
  /** Backpressure: resolves when more can be sent; undefined while nothing is in the way. */
  whenWritable(): Promise<void> | undefined;
  on(kind: string, handler: Received): void;
  /** Ids of the replicas that sent something lately. */
  known(): readonly string[];
  /** True when there are certainly no other replicas. */
  isAlone(): boolean;
  /** Runs when a replica has gone, by its goodbye or by silence. */
  onGone(handler: (id: string) => void): void;
  /** Runs when texts of other replicas may have been missed. */
  onMissed(handler: () => void): void;
  /** Says goodbye. */
  close(): Promise<void>;
}

export interface ReplicasOptions {
  readonly bus: Bus;
  log(message: string): void;
  readonly helloEveryMs?: number;
}

const head = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}) ([1-9]\d{0,14})$/;

/** Joins the other replicas; resolves when messages of theirs arrive. */
export async function joinReplicas({ bus, log, helloEveryMs = 10_000 }: ReplicasOptions): Promise<Replicas> {
  const id = randomUUID();
  const membership = createMembership({ id, helloEveryMs });
  const handlers = new Map<string, Received>();
  const outbox = createOutbox({
    log,
    send: (text) => bus.send(text),
    pack: (lines, number) => [`${id} ${number}`, ...lines].join("\n"),
  });
  const say = (kind: string, args: readonly string[], json = "") =>
    outbox.push(`${JSON.stringify([kind, ...args])}\t${json}`);
  const handle = (from: string, line: string) => {
    try {
      const at = line.indexOf("\t");
      const [kind = "", ...args] = JSON.parse(line.slice(0, at)) as string[];
      handlers.get(kind)?.(from, args, line.slice(at + 1));
    } catch (error) {
      log(`A message of another replica could not be handled: ${(error as Error).message}`);
    }
  };
  const receive = (text: string) => {
    const [first = "", ...lines] = text.split("\n");
    const [, from, number] = head.exec(first) ?? [];
    if (from === undefined) {
      log("A text that no replica sends came over the way between them; it was left out");
    } else if (membership.observe(from, Number(number))) {
      lines.forEach((line) => handle(from, line));
    }
  };
  handlers.set("hello", (_from, [wants]) => wants === "answer" && say("hello", []));
  handlers.set("bye", membership.leave);
  await bus.listen(receive, () => {
    membership.markUncertain();
    say("hello", ["answer"]);
  });
  say("hello", ["answer"]);
  await outbox.drained(2_000);
  const beat = setInterval(() => {
    say("hello", []);
    membership.expire();
  }, helloEveryMs).unref();
  return {
    id,
    isAlone: membership.isAlone,
    send(kind, args, json) {
      if (!membership.isAlone()) {
        say(kind, args, json);
      }
    },
    whenWritable: outbox.whenWritable,
    on: (kind, handler) => void handlers.set(kind, handler),
    known: membership.known,
    onGone: membership.onGone,
    onMissed: membership.onMissed,
    async close() {
      clearInterval(beat);
      membership.close();
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
  whenWritable: () => undefined,
  on() {},
  known: () => [],
  isAlone: () => true,
  onGone() {},
  onMissed() {},
  close: async () => {},
};
