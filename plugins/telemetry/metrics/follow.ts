import type { ModelCall } from "#kernel/completion/model-call.ts";
import { AppError } from "#kernel/errors.ts";
import { type Work, workBegan, workEnded } from "#kernel/work.ts";
import { queryEnded, type QueryTime } from "#storage/query-times.ts";
import type { Metrics } from "./create-metrics.ts";

/** Counts what the kernel tells of, until the function that comes back is called. */
export function followWork(metrics: Metrics): () => void {
  const began = new WeakMap<Work, number>();
  const begin = (message: unknown) => {
    const work = message as Work;
    began.set(work, performance.now());
    if (work.name === "stream" && work.kind === "stage") {
      metrics.openStreams.inc();
    }
  };
  const end = (message: unknown) => {
    const work = message as Work;
    const start = began.get(work);
    if (start !== undefined) {
      began.delete(work);
      count(metrics, work, (performance.now() - start) / 1000);
    }
  };
  const query = (message: unknown) => {
    const { milliseconds, error } = message as QueryTime;
    metrics.querySeconds.observe(milliseconds / 1000);
    if (error !== undefined) {
      metrics.queryErrors.inc();
    }
  };
  workBegan.subscribe(begin);
  workEnded.subscribe(end);
  queryEnded.subscribe(query);
  return () => {
    workBegan.unsubscribe(begin);
    workEnded.unsubscribe(end);
    queryEnded.unsubscribe(query);
  };
}

function count(metrics: Metrics, work: Work, seconds: number): void {
  const { kind, name, status, error } = work;
  switch (kind) {
    case "request":
      metrics.requests.inc({ route: name, status: String(status) });
      metrics.requestSeconds.observe({ route: name }, seconds);
      break;
    case "stage":
      metrics.stageSeconds.observe({ stage: name }, seconds);
      if (name === "stream") {
        metrics.openStreams.dec();
      }
      break;
    case "upstream":
      metrics.upstreamSeconds.observe({ upstream: name }, seconds);
      countFailure(metrics, work);
      break;
    case "job":
      metrics.jobSeconds.observe({ job: name }, seconds);
      if (error !== undefined) {
        metrics.jobFailures.inc({ job: name });
      }
      break;
  }
}

/** A caller that leaves is no fault of an upstream. */
function countFailure(metrics: Metrics, { name, status = 0, error }: Work): void {
  if (error instanceof AppError) {
    metrics.upstreamErrors.inc({ upstream: name, reason: error.code });
  } else if (error === undefined && (status === 429 || status >= 500)) {
    metrics.upstreamErrors.inc({ upstream: name, reason: String(status) });
  }
}

/** Counts one model call. */
export function countCall(metrics: Metrics, call: ModelCall): void {
  // A name that was never resolved to a model is the caller's own; names of models are as many as there are models.
  const of = { provider: call.provider, model: call.modelId };
  metrics.calls.inc({ ...of, outcome: call.outcome });
  metrics.tokens.inc({ ...of, direction: "input" }, call.tokens.input);
  metrics.tokens.inc({ ...of, direction: "output" }, call.tokens.output);
  metrics.callSeconds.observe(of, call.durationMs / 1000);
  if (call.firstTokenMs !== null) {
    metrics.firstToken.observe(of, call.firstTokenMs / 1000);
  }
}
