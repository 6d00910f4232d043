import type { ModelCall } from "#kernel/completion/model-call.ts";

/** Calls of one connection within the last hour. */
export interface UpstreamRecord {
  /** Host of its address, or the id of its provider. */
  readonly name: string;
  readonly calls: number;
  readonly failed: number;
}

const minutes = 60;
const minuteMs = 60_000;
/** Listed settings that hold the addresses of a provider's connections. */
const addresses: Readonly<Record<string, string>> = {
  common: "OPENAI_API_BASE_URLS",
  message: "OPENAI_API_BASE_URLS",
  runtime: "OLLAMA_BASE_URLS",
};

interface Minute {
  at: number;
  calls: number;
  failed: number;
}

/** Counts the calls of models by connection, as this process saw them; `read` gives the value of a setting. */
export function createUpstreams(now: () => number, read: (variable: string) => unknown) {
  const counted = new Map<string, Minute[]>();
  const recent = (list: readonly Minute[] = []) => {
    const oldest = Math.floor(now() / minuteMs) - minutes;
    return list.filter(({ at }) => at > oldest);
  };
  return {
    count(call: Pick<ModelCall, "provider" | "connection" | "outcome">): void {
      const name = toName(call, read);
      const kept = recent(counted.get(name));
      const at = Math.floor(now() / minuteMs);
      const last = kept.at(-1);
      const minute = last?.at === at ? last : { at, calls: 0, failed: 0 };
      minute.calls += 1;
      minute.failed += call.outcome === "failed" ? 1 : 0;
      counted.set(name, minute === last ? kept : [...kept, minute]);
    },
    list(): UpstreamRecord[] {
      return [...counted].flatMap(([name, list]) => {
        const kept = recent(list);
        const sum = (key: "calls" | "failed") => kept.reduce((total, minute) => total + minute[key], 0);
        return kept.length === 0 ? [] : [{ name, calls: sum("calls"), failed: sum("failed") }];
      });
    },
  };
}

function toName(
  { provider, connection }: Pick<ModelCall, "provider" | "connection">,
  read: (variable: string) => unknown,
): string {
  const variable = addresses[provider];
  const list = variable === undefined || connection === undefined ? undefined : read(variable);
  const address = Array.isArray(list) ? String(list[Number(connection)]) : "";
  return URL.parse(address)?.host ?? provider;
}
