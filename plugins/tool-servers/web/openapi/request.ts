import { type Bag, toBag } from "./bag.ts";
import type { BodyPlan } from "./body.ts";
import type { Operation } from "./operations.ts";
import { toHeaderValue, toPathText, toQueryPairs } from "./serialize.ts";

/** A request as either side sends it. */
export interface OperationRequest {
  readonly method: string;
  readonly url: string;
  /** Of parameters; by lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | undefined;
  /** Of the body; undefined where whoever sends it sets it. */
  readonly contentType: string | undefined;
}

/**
 * The request of one call below `base`. Throws an Error with words for the model where a parameter is missing, or would
 * lead to another path than the operation's.
 */
export function toRequest(operation: Operation, base: string, parameters: Bag): OperationRequest {
  let path = operation.path;
  const query: string[] = [];
  const headers: Record<string, string> = {};
  for (const input of operation.inputs) {
    const value = parameters[input.key];
    if (value === undefined || (value === null && input.place !== "path")) {
      continue;
    }
    if (input.place === "path") {
      path = path.replaceAll(`{${input.name}}`, () => toPathText(input, value));
    } else if (input.place === "query") {
      query.push(...toQueryPairs(input, value));
    } else {
      headers[input.name.toLowerCase()] = toHeaderValue(input, value);
    }
  }
  requireWholePath(operation, path);
  const root = new URL(base);
  const url = `${root.origin}${root.pathname.replace(/(?<!\/)\/+$/, "")}${path}`;
  const known = root.search.replace(/^\?/, "");
  const search = [...(known === "" ? [] : [known]), ...query].join("&");
  const sent = operation.body && toBody(operation.body, parameters);
  return {
    method: operation.method,
    url: search === "" ? url : `${url}?${search}`,
    headers,
    body: sent?.body,
    contentType: sent?.contentType,
  };
}

/** Values are encoded, so only a segment of dots could leave the operation's path. */
function requireWholePath(operation: Operation, path: string): void {
  const missing = operation.inputs.find(({ place, name }) => place === "path" && path.includes(`{${name}}`));
  if (missing !== undefined) {
    throw new Error(`"${missing.key}" is missing.`);
  }
  const given = operation.path.split("/");
  const segments = path.split("/");
  const isLeft = segments.some((segment) => /^(\.|%2e){1,2}$/i.test(segment) && !given.includes(segment));
  const isEmpty = segments.some((segment, at) => segment === "" && given[at] !== "");
  if (isLeft || isEmpty) {
    throw new Error("A parameter of the path may be neither empty nor dots alone.");
  }
}

function toBody(plan: BodyPlan, parameters: Bag): Pick<OperationRequest, "body" | "contentType"> | undefined {
  const given = plan.whole === undefined ? pickProperties(plan, parameters) : parameters[plan.whole];
  if (given === undefined) {
    return undefined;
  }
  const { format, contentType } = plan;
  if (format === "json") {
    return { body: JSON.stringify(given), contentType };
  }
  if (format === "text") {
    return { body: typeof given === "string" ? given : JSON.stringify(given), contentType };
  }
  const pairs = Object.entries(toBag(given)).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => [name, toField(each)] as const),
  );
  if (format === "form") {
    return { body: new URLSearchParams(pairs.map((pair) => [...pair])).toString(), contentType };
  }
  const form = new FormData();
  pairs.forEach(([name, value]) => form.append(name, value));
  return { body: form, contentType: undefined };
}

const toField = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function pickProperties({ properties }: BodyPlan, parameters: Bag): Bag | undefined {
  const entries = properties.flatMap(([key, name]) =>
    parameters[key] === undefined ? [] : [[name, parameters[key]] as const],
  );
  return Object.fromEntries(entries);
}

/** The address that the operations of a document stand below: the server's, with the path that its document adds. */
export function toBase(url: string, server: string): string {
  const own = new URL(url);
  const stated = URL.parse(server, own.href.endsWith("/") ? own.href : `${own.href}/`);
  // Another origin is never called: the person who added the server named this one.
  const adds =
    own.pathname === "/" && server !== "" && !server.includes("{") && stated?.origin === own.origin;
  return adds ? `${own.origin}${stated.pathname.replace(/(?<!\/)\/+$/, "")}${own.search}` : url;
}
