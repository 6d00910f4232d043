import { pipeline, type Readable, Transform } from "node:stream";
import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import { parseJson } from "#kernel/http/json.ts";
import { relay, type RequestInfo, reply, type Upstream } from "#kernel/http/route.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import type { Terminal } from "../connections/schema.ts";
import { requirePlace, type Terminals } from "../connections/terminals.ts";
import { type CheckedPath, readPath, toAddress } from "./address.ts";
import { toRequestHeaders, toResponseHeaders } from "./headers.ts";
import { toIdentityHeaders } from "./identity.ts";
import type { Sessions } from "./sessions.ts";
import { toUnreachable } from "./unreachable.ts";
import type { Watch } from "./watch.ts";

export interface ProxyParts {
  readonly terminals: Terminals;
  readonly sessions: Sessions;
  readonly egress: Egress;
  readonly watch: Watch;
  /** Whether the caller may write into a chat. */
  ownsChat(principal: Principal, chatId: string): Promise<boolean>;
  maxBytes(): number;
}

/** One request of a person to a terminal server. */
export interface ProxyRequest {
  readonly id: string;
  readonly caller: Principal;
  readonly request: RequestInfo;
  readonly raw: Readable;
}

interface Target {
  readonly terminal: Terminal;
  readonly path: CheckedPath;
  readonly chatId: string | undefined;
}

const largestList = 1024 * 1024;
const Session = z.looseObject({ id: z.string().min(1).max(200) });

/** Passes requests of people on to terminal servers (contract §5.3). */
export function createProxy(parts: ProxyParts) {
  const { terminals, sessions, egress, watch } = parts;

  async function send(asked: ProxyRequest, { terminal, path, chatId }: Target): Promise<Upstream> {
    const { request, caller } = asked;
    const hasBody = !/^(?:GET|HEAD)$/.test(request.method) && isThere(request);
    const limit = parts.maxBytes();
    if (hasBody && Number(request.headers["content-length"]) > limit) {
      throw tooLarge(limit);
    }
    const { "content-length": length, "content-type": type, ...headers } = toRequestHeaders(request.headers);
    const identity = await toIdentityHeaders(terminal, { principal: caller, sessionId: chatId });
    const response = await egress
      .request(toAddress(terminal, path.text, path.search), {
        trust: "operator",
        redirects: false,
        method: request.method,
        headers: {
          ...headers,
          ...(hasBody && type && { "content-type": type }),
          ...(hasBody && length && { "content-length": length }),
          ...identity,
        },
        body: hasBody ? limitedUpload(asked.raw, limit) : undefined,
        signal: request.signal,
      })
      .catch((error: unknown) => {
        throw toUnreachable(error);
      });
    return requireUsable(response);
  }

  /** A session is its maker's; the platform keeps to that where the server does not. */
  async function requireOwnSession({ terminal, path }: Target, caller: Principal): Promise<void> {
    const [api, kind, session] = path.segments;
    const isSession = api === "api" && kind === "terminals" && session !== undefined;
    if (isSession && (await sessions.find(terminal.id, session, caller.userId)) === undefined) {
      throw new AppError("not_found", "Session not found");
    }
  }

  function pass(asked: ProxyRequest, { terminal }: Target, upstream: Upstream) {
    const limit = parts.maxBytes();
    if (Number(upstream.headers["content-length"]) > limit) {
      upstream.body.destroy();
      throw new AppError("too_large", `The answer is larger than ${limit} bytes (TERMINAL_PROXY_MAX_BYTES).`);
    }
    const body = pipeline(upstream.body, createLimit(limit), () => undefined);
    const forget = watch.add({
      terminalId: terminal.id,
      caller: () => asked.caller,
      end: () => void body.destroy(new AppError("unavailable", "The terminal is not available.")),
    });
    const headers = toResponseHeaders(upstream.headers);
    return relay({ ...upstream, body }, { headers, end: forget });
  }

  /** The server's list of sessions, and the answer to a new one. */
  async function answerSessions(asked: ProxyRequest, target: Target, upstream: Upstream) {
    const { terminal, chatId } = target;
    const { userId } = asked.caller;
    const { status } = upstream;
    const value: unknown = parseJson(await readText(upstream.body, largestList));
    if (status < 300 && asked.request.method === "POST") {
      const { id } = Session.parse(value);
      await sessions.add(terminal.id, id, { userId, chatId });
    }
    if (status < 300 && asked.request.method === "GET" && Array.isArray(value)) {
      const own = await sessions.list(terminal.id, userId);
      return value.filter((one) => own.has(Session.safeParse(one).data?.id ?? ""));
    }
    return reply(value, { status });
  }

  return async (asked: ProxyRequest) => {
    const path = readPath(asked.request.url, asked.id);
    const terminal = terminals.require(asked.caller, asked.id);
    const named = asked.request.headers["x-session-id"];
    const isOwn = typeof named === "string" && (await parts.ownsChat(asked.caller, named));
    const target: Target = { terminal, path, chatId: isOwn ? named : undefined };
    requirePlace(terminal, target);
    await requireOwnSession(target, asked.caller);
    const upstream = await send(asked, target);
    const isSessions = path.text === "api/terminals";
    return isSessions ? answerSessions(asked, target, upstream) : pass(asked, target, upstream);
  };
}

const isThere = ({ headers }: RequestInfo): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > 0;

function requireUsable(upstream: Upstream): Upstream {
  const { status } = upstream;
  if (status === 401 || status === 407) {
    upstream.body.destroy();
    throw new AppError("unavailable", "The terminal server refused the platform's key.");
  }
  if (status >= 300 && status < 400 && status !== 304) {
    upstream.body.destroy();
    throw new AppError("upstream", "The terminal server answered with a redirect, which is not followed.");
  }
  return upstream;
}

/** The request itself is not destroyed beyond the limit: its refusal has to be written still. */
function limitedUpload(raw: Readable, limit: number): Readable {
  const counting = createLimit(limit);
  raw.once("error", (error) => counting.destroy(error));
  counting.once("error", () => raw.unpipe(counting));
  return raw.pipe(counting);
}

function createLimit(limit: number): Transform {
  let left = limit;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      left -= piece.length;
      done(left < 0 ? tooLarge(limit) : null, piece);
    },
  });
}

const tooLarge = (limit: number) =>
  new AppError("too_large", `More than ${limit} bytes are not passed on (TERMINAL_PROXY_MAX_BYTES).`);
