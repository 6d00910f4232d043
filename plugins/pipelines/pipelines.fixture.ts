import type { Answer, App } from "#test/support/app.ts";

/** The code of a filter that signs what passes it, as an operator would upload it. */
export const signing = (sign: string, priority: number, pipelines: string[]) => `({
  type: "filter", name: "Sign ${sign}",
  valves: { priority: ${priority}, pipelines: ${JSON.stringify(pipelines)}, sign: "${sign}" },
  inlet(body, user) {
    const last = body.messages.at(-1);
    if (last.content.includes("forbidden")) throw new Error("Not here, " + user.name + ".");
    last.content += " " + this.valves.sign;
    return body;
  },
  outlet(body) {
    body.messages.at(-1).content += " " + this.valves.sign;
    return body;
  },
})`;

/** Uploads a pipeline's code as an administrator does. */
export function upload(
  app: App,
  [filename, source]: [string, string],
  { token, urlIdx }: { token: string; urlIdx: number },
): Promise<Answer> {
  const body = new FormData();
  body.append("urlIdx", String(urlIdx));
  body.append("file", new File([source], filename));
  return app.call("POST /api/v1/pipelines/upload", { token, body });
}
