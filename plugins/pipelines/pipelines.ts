import { basename } from "node:path/posix";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import type { Events } from "#kernel/events.ts";
import type { CommonConnections, ConnectionRequest, PipelineHost } from "#plugins/provider-common/service.ts";
import { findDetail } from "./detail.ts";

export interface PipelinesOptions {
  readonly connections: Pick<CommonConnections, "pipelineHosts" | "refresh" | "ask">;
  readonly events: Pick<Events, "announce">;
  /** Tells other replicas that a server offers other things now. */
  changed(index: number): Promise<void>;
}

/** Who asks, and which server: the first one without an index. */
export interface Asked {
  readonly caller: Principal;
  readonly signal: AbortSignal;
  readonly urlIdx?: number | undefined;
}

export interface SourceFile {
  readonly filename: string;
  readonly bytes: Buffer;
}

/** The pipelines of remote servers, as administrators see and change them (contract §4.4). */
export interface Pipelines {
  hosts(): Promise<{ url: string; idx: number }[]>;
  /** What one server holds, in its own words. */
  list(asked: Asked): Promise<unknown>;
  /** Lets the server fetch a pipeline's code from `url`. */
  add(asked: Asked, url: string): Promise<unknown>;
  upload(asked: Asked, file: SourceFile): Promise<unknown>;
  remove(asked: Asked, id: string): Promise<unknown>;
  valves(asked: Asked, id: string): Promise<unknown>;
  valvesSpec(asked: Asked, id: string): Promise<unknown>;
  updateValves(asked: Asked, id: string, valves: Record<string, unknown>): Promise<unknown>;
}

/** In place of the connections of a deployment that left them out. */
export const noConnections: PipelinesOptions["connections"] = {
  pipelineHosts: () => [],
  refresh: async () => undefined,
  ask: () => Promise.reject(new AppError("not_found", "Pipelines server not found")),
};

type Call = Pick<ConnectionRequest, "method" | "path" | "body" | "contentType">;
type Event = "uploaded" | "added" | "deleted" | "valves_updated";

/** Milliseconds; a server that adds a pipeline may install what its code needs first. */
const patience = { read: 30_000, change: 300_000 };

/** Creates the logic behind `/pipelines`. Throws `not_found` for what is no pipelines server. */
export function createPipelines({ connections, events, changed }: PipelinesOptions): Pipelines {
  const requireHost = async ({ urlIdx }: Asked): Promise<PipelineHost> => {
    await connections.refresh();
    const hosts = connections.pipelineHosts();
    const host = urlIdx === undefined ? hosts[0] : hosts.find(({ index }) => index === urlIdx);
    if (host === undefined) {
      throw new AppError("not_found", "Pipelines server not found");
    }
    return host;
  };
  const ask = ({ index }: PipelineHost, { caller, signal }: Asked, call: Call): Promise<unknown> => {
    const timeLimit = call.method === "GET" ? patience.read : patience.change;
    const context = { principal: caller, signal };
    return connections.ask({ ...call, index, timeLimit, context }).catch(throwToAdmin);
  };
  const read = async (asked: Asked, path: string) =>
    ask(await requireHost(asked), asked, { method: "GET", path });
  const change = async (asked: Asked, call: Call, told: { event: Event; id: string }): Promise<unknown> => {
    const host = await requireHost(asked);
    const answer = await ask(host, asked, call);
    const { userId, name, email, role } = asked.caller;
    events.announce(`pipeline.${told.event}`, {
      actor: { id: userId, name, email, role },
      subject: { type: "pipeline", id: told.id },
      data: { url: host.url, urlIdx: host.index },
    });
    await connections.refresh(host.index);
    await changed(host.index);
    return answer;
  };

  return {
    async hosts() {
      await connections.refresh();
      return connections.pipelineHosts().map(({ url, index }) => ({ url, idx: index }));
    },
    list: (asked) => read(asked, "/pipelines"),
    add: (asked, url) =>
      change(
        asked,
        { method: "POST", path: "/pipelines/add", body: JSON.stringify({ url }) },
        { event: "added", id: url },
      ),
    async upload(asked, file) {
      const form = await toForm(file);
      return change(
        asked,
        { method: "POST", path: "/pipelines/upload", ...form },
        { event: "uploaded", id: toName(file.filename) },
      );
    },
    remove: (asked, id) =>
      change(
        asked,
        { method: "DELETE", path: "/pipelines/delete", body: JSON.stringify({ id }) },
        { event: "deleted", id },
      ),
    valves: async (asked, id) => read(asked, `${toPath(id)}/valves`),
    valvesSpec: async (asked, id) => read(asked, `${toPath(id)}/valves/spec`),
    updateValves: async (asked, id, valves) =>
      change(
        asked,
        { method: "POST", path: `${toPath(id)}/valves/update`, body: JSON.stringify(valves) },
        { event: "valves_updated", id },
      ),
  };
}

/** An id stays one segment of the path. */
function toPath(id: string): string {
  if (/^\.{1,2}$/.test(id)) {
    throw new AppError("not_found", "Pipeline not found");
  }
  return `/${encodeURIComponent(id)}`;
}

function toName(filename: string): string {
  return basename(filename.replaceAll("\\", "/")) || "pipeline";
}

async function toForm({ filename, bytes }: SourceFile): Promise<{ body: Buffer; contentType: string }> {
  const form = new FormData();
  form.append("file", new File([new Uint8Array(bytes)], toName(filename)));
  const written = new Response(form);
  return {
    body: Buffer.from(await written.arrayBuffer()),
    contentType: written.headers.get("content-type") as string,
  };
}

/** The server's own status must not reach the admin's browser as this platform's: a 401 would sign it out. */
function throwToAdmin(error: unknown): never {
  if (!(error instanceof ProviderError)) {
    throw error;
  }
  const detail = findDetail(error.body) ?? `The pipelines server refused with status ${error.status}.`;
  if (error.status === 404) {
    throw new AppError("not_found", detail, { cause: error });
  }
  const isOurs = error.status < 500 && error.status !== 401 && error.status !== 403;
  throw new AppError(isOurs ? "invalid" : "upstream", detail, { cause: error });
}
