import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { RequestInfo } from "#kernel/http/route.ts";
import type { Backend, Holder } from "../backends/backend.ts";
import type { Backends } from "../backends/backends.ts";
import type { RuntimeClient } from "../backends/client.ts";
import { relayAnswer } from "../routes/relay-call.ts";
import { type AnnounceModel, watchCreation } from "./announce-models.ts";

type Body = Readonly<Record<string, unknown>>;

export interface ManageOptions {
  readonly backends: Backends;
  readonly client: RuntimeClient;
  readonly announce: AnnounceModel;
}

export interface Managed {
  readonly caller: Principal;
  readonly request: RequestInfo;
  readonly path: string;
  readonly body: Body;
  readonly backend: Backend;
  /** The model that the backend has afterwards, as it is to know it. */
  readonly result: string;
}

/** Changes a backend's models; relays its progress, then refreshes its list. */
export async function manage(options: ManageOptions, managed: Managed) {
  const { caller, request, path, body, backend, result } = managed;
  const finish = await watchCreation(options, { by: caller, backend, name: result });
  const isStream = body["stream"] !== false;
  const upstream = await options.client.open(backend, {
    path,
    method: "POST",
    body: JSON.stringify(body),
    isStream,
    context: { principal: caller, userAgent: request.headers["user-agent"], signal: request.signal },
  });
  const ended = () => void finish();
  return relayAnswer(upstream, { prefix: "", request, isStream, wire: "lines", ended });
}

/** The backend of `index`, else the first that can be called. Throws `not_found` when there is none. */
export function chooseBackend(backends: Backends, index: number | undefined): Backend {
  const [first] = backends.usable();
  if (index === undefined && first === undefined) {
    throw new AppError("not_found", "No backend of the runtime is set up.");
  }
  return index === undefined ? (first as Backend) : backends.require(index);
}

/**
 * The backends that hold a model, by its public id or by the one they know it under, without a tag the latest; only the
 * one of `index` where that is given. Throws `not_found`.
 */
export function requireHolders(backends: Backends, id: string, index?: number): readonly Holder[] {
  const names = id.includes(":") ? [id] : [id, `${id}:latest`];
  const wanted = [...backends.known().holders].flatMap(([publicId, holders]) =>
    holders.filter(
      ({ backend, upstreamId }) =>
        (index === undefined || backend.index === index) &&
        (names.includes(publicId) || (index !== undefined && names.includes(upstreamId))),
    ),
  );
  if (wanted.length === 0) {
    throw new AppError("not_found", "Model not found");
  }
  return wanted.toSorted((a, b) => a.backend.index - b.backend.index);
}

/** A model's name as a backend is to know it: without the backend's prefix. */
export function toOwnName(name: string, { prefix }: Backend): string {
  return prefix !== "" && name.startsWith(`${prefix}.`) ? name.slice(prefix.length + 1) : name;
}
