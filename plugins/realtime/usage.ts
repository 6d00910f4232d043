import type { Hub } from "#kernel/sockets/hub.ts";

/** Which models are in use and how many people are here, over all replicas. */
export interface Usage {
  /** A session works with this model now. */
  note(sessionId: string, model: string): void;
  look(): Promise<{ model_ids: string[]; user_count: number }>;
}

interface Here {
  readonly models: readonly string[];
  readonly users: readonly string[];
}

const topic = "realtime.usage";
const keptMs = 3_000;
/** People look at this often, and every look asks all replicas. */
const answerKeptMs = 1_000;
const mostNotes = 10_000;

export function createUsage(hub: Hub): Usage {
  const notes = new Map<string, { model: string; until: number }>();
  let last: { at: number; answer: ReturnType<Usage["look"]> } | undefined;
  const models = () => {
    const now = Date.now();
    for (const [session, { until }] of notes) {
      // Later notes stand behind earlier ones.
      if (until > now) {
        break;
      }
      notes.delete(session);
    }
    return [...new Set([...notes.values()].map(({ model }) => model))];
  };
  hub.contribute(topic, (): Here => ({ models: models(), users: hub.activeUsers() }));
  const collect = async () => {
    const all = (await hub.collect(topic)).filter((here) => here !== null) as Here[];
    return {
      model_ids: [...new Set(all.flatMap((here) => here.models))].toSorted(),
      user_count: new Set(all.flatMap((here) => here.users)).size,
    };
  };
  return {
    note(sessionId, model) {
      notes.delete(sessionId);
      if (notes.size >= mostNotes) {
        models();
      }
      if (notes.size < mostNotes) {
        notes.set(sessionId, { model, until: Date.now() + keptMs });
      }
    },
    look() {
      if (last === undefined || Date.now() - last.at > answerKeptMs) {
        last = { at: Date.now(), answer: collect() };
      }
      return last.answer;
    },
  };
}
