import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { type Work, workBegan, workEnded } from "#kernel/work.ts";

/** Spans of the work of this process. */
export interface Spans {
  /** The span that runs where it is asked, for lines of the log. */
  active(): Context | undefined;
  stop(): void;
}

interface Open {
  readonly span: Span;
  readonly parent: Context;
  readonly context: Context;
}

const kinds = {
  request: SpanKind.SERVER,
  upstream: SpanKind.CLIENT,
  stage: SpanKind.INTERNAL,
  job: SpanKind.CONSUMER,
} as const;

/** Makes a span of each work that begins; spans of what it calls stand below it. */
export function openSpans(tracer: Tracer): Spans {
  const contexts = new AsyncLocalStorage<Context>();
  const opened = new WeakMap<Work, Open>();
  const begin = (work: Work): Context => {
    const known = opened.get(work);
    if (known !== undefined) {
      return known.context;
    }
    const before = work.after && opened.get(work.after);
    const parent = before?.parent ?? contexts.getStore() ?? ROOT_CONTEXT;
    const span = tracer.startSpan(
      toName(work),
      { kind: kinds[work.kind], attributes: toAttributes(work) },
      parent,
    );
    const context = trace.setSpan(parent, span);
    opened.set(work, { span, parent, context });
    return context;
  };
  const end = (message: unknown) => {
    const work = message as Work;
    const open = opened.get(work);
    if (open !== undefined) {
      finish(open.span, work);
    }
  };
  const beginAlone = (message: unknown) => void begin(message as Work);
  workBegan.bindStore(contexts, (message) => begin(message as Work));
  workBegan.subscribe(beginAlone);
  workEnded.subscribe(end);
  return {
    active: () => contexts.getStore(),
    stop() {
      workBegan.unbindStore(contexts);
      workBegan.unsubscribe(beginAlone);
      workEnded.unsubscribe(end);
    },
  };
}

function toName({ kind, name, facts }: Work): string {
  return kind === "upstream" ? `${facts?.["method"] ?? ""} ${name}` : kind === "job" ? `job ${name}` : name;
}

function toAttributes({ kind, name, facts }: Work): Attributes {
  switch (kind) {
    case "request": {
      const [method = "", route = ""] = name.split(" ");
      return {
        "http.request.method": method,
        "http.route": route,
        "millrace.plugin": facts?.["plugin"] ?? "",
      };
    }
    case "upstream":
      return { "http.request.method": facts?.["method"] ?? "", "server.address": name };
    case "stage":
      return facts
        ? { "gen_ai.request.model": facts["model"] ?? "", "millrace.provider": facts["provider"] ?? "" }
        : {};
    case "job":
      return { "millrace.job": name };
  }
}

/** A refusal is the caller's mistake; only what the platform or an upstream could not do is an error. */
function finish(span: Span, { kind, status, error }: Work): void {
  if (status !== undefined) {
    span.setAttribute("http.response.status_code", status);
  }
  const isError =
    error !== undefined || (status !== undefined && status >= (kind === "upstream" ? 400 : 500));
  if (isError) {
    const type = error instanceof Error ? error.name : String(status);
    span.setAttribute("error.type", type);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
