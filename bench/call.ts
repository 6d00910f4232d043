import type { Running } from "./contestant.ts";

/** Calls a route of a contestant and resolves to its JSON; throws the answer's text unless the status is a success. */
export async function call(
  running: Pick<Running, "port" | "headers">,
  route: string,
  body?: unknown,
): Promise<unknown> {
  const [method = "GET", path = "/"] = route.split(" ");
  const response = await fetch(`http://127.0.0.1:${running.port}${path}`, {
    method,
    headers: { "content-type": "application/json", authorization: toToken(running) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) {
    throw new Error(`${route} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  }
  return response.json();
}

/** The credential that the contestant's headers carry, `Bearer …`. */
export function toToken({ headers }: Pick<Running, "headers">): string {
  return /^authorization: (.*)\r$/m.exec(headers)?.[1] ?? "";
}
