import type { Contestant, Running } from "./contestant.ts";
import { type MillraceOptions, millrace } from "./contestants.ts";

/** The native filter of the bench as a function. */
const upperCase = `
export function stream(chunk) {
  const delta = chunk.choices?.[0]?.delta;
  if (delta?.content) {
    delta.content = delta.content.toUpperCase();
  }
  return chunk;
}
`;

/** A filter of whole requests: it adds one message before the call and looks at the conversation afterwards. */
const bothEnds = `
export function inlet(body) {
  return { ...body, messages: [{ role: "system", content: "Be brief." }, ...body.messages] };
}
export function outlet(body) {
  return { ...body, messages: body.messages.filter((message) => message.role !== "system") };
}
`;

export interface FunctionsOptions extends MillraceOptions {
  readonly source: "upperCase" | "bothEnds";
  /** How many of them, and how many administrators own them in turn. */
  readonly count: number;
  readonly owners: number;
}

/** The platform with sandboxed filters that run for every model. */
export function withFunctions(options: FunctionsOptions): Contestant {
  const name = options.name ?? `millrace with ${options.count} functions of ${options.owners}`;
  const plain = millrace({ ...options, name });
  return {
    name,
    async start(upstreamPort) {
      const running = await plain.start(upstreamPort);
      return install(running, options).then(
        () => running,
        async (error: unknown) => {
          await running.stop();
          throw error;
        },
      );
    },
  };
}

async function install(running: Running, { source, count, owners }: FunctionsOptions): Promise<void> {
  const tokens = [running.headers.slice("authorization: ".length).trim()];
  for (let n = 1; n < owners; n++) {
    const account = {
      name: `Owner ${n}`,
      email: `owner${n}@example.com`,
      password: "a-long-bench-password-1",
    };
    await post(running, tokens[0]!, "/auths/add", { ...account, role: "admin" });
    const session = (await post(running, tokens[0]!, "/auths/signin", account)) as { token: string };
    tokens.push(`Bearer ${session.token}`);
  }
  for (let n = 0; n < count; n++) {
    const token = tokens[n % owners]!;
    const id = `bench_${n}`;
    const content = source === "upperCase" ? upperCase : bothEnds;
    await post(running, token, "/functions/create", { id, name: `Bench ${n}`, content, meta: {} });
    await post(running, token, `/functions/id/${id}/toggle`);
    await post(running, token, `/functions/id/${id}/toggle/global`);
  }
}

async function post(running: Running, authorization: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${running.port}/api/v1${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) {
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  }
  return response.json();
}
