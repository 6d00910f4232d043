import { randomUUID } from "node:crypto";
import type { Bus } from "./bus.ts";
import { createOutbox } from "./outbox.ts";
import { createPeers } from "./peers.ts";

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
  /** Runs when something that others sent may not have come. */
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
  const peers = createPeers({ id, helloEveryMs });
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
    } else if (peers.hear(from, Number(number))) {
      lines.forEach((line) => handle(from, line));
    }
  };
  handlers.set("hello", (_from, [wants]) => wants === "answer" && say("hello", []));
  handlers.set("bye", peers.leave);
  await bus.listen(receive, () => {
    peers.doubt();
    say("hello", ["answer"]);
  });
  say("hello", ["answer"]);
  await outbox.drained(2_000);
  const beat = setInterval(() => {
    say("hello", []);
    peers.judge();
  }, helloEveryMs).unref();
  return {
    id,
    areNone: peers.areNone,
    send(kind, args, json) {
      if (!peers.areNone()) {
        say(kind, args, json);
      }
    },
    eased: outbox.eased,
    on: (kind, handler) => void handlers.set(kind, handler),
    known: peers.known,
    onGone: peers.onGone,
    onMissed: peers.onMissed,
    async close() {
      clearInterval(beat);
      peers.close();
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
  onMissed() {},
  close: async () => {},
};
