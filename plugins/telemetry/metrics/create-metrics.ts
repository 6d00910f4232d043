import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Gauge as KernelGauge } from "#kernel/gauges.ts";
import type { JobRecord } from "#kernel/job-records.ts";

const shortTimes = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];
const longTimes = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Every metric of a process, in one registry that Prometheus and OTLP read alike. */
export type Metrics = ReturnType<typeof createMetrics>;

export interface MetricSources {
  readonly version: string;
  gauges(): readonly KernelGauge[];
  jobs(): Promise<readonly JobRecord[]>;
}

/** Makes the registry; the event loop, the heap and the garbage collector are measured from here on. */
export function createMetrics(sources: MetricSources) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "millrace_" });
  const registers = [registry];
  new Gauge({ name: "millrace_info", help: "The running release.", labelNames: ["version"], registers }).set(
    { version: sources.version },
    1,
  );
  addQueues(registry, sources);
  return { registry, ...addWork(registers), ...addCalls(registers) };
}

function addWork(registers: Registry[]) {
  return {
    requests: new Counter({
      name: "millrace_http_requests_total",
      help: "Answered requests.",
      labelNames: ["route", "status"],
      registers,
    }),
    requestSeconds: new Histogram({
      name: "millrace_http_request_duration_seconds",
      help: "Time until the last byte of an answer.",
      labelNames: ["route"],
      buckets: shortTimes,
      registers,
    }),
    stageSeconds: new Histogram({
      name: "millrace_completion_stage_duration_seconds",
      help: "Time of each stage of a completion.",
      labelNames: ["stage"],
      buckets: [...shortTimes, 60],
      registers,
    }),
    openStreams: new Gauge({
      name: "millrace_open_streams",
      help: "Answers of models that are streaming now.",
      registers,
    }),
    upstreamSeconds: new Histogram({
      name: "millrace_upstream_request_duration_seconds",
      help: "Time until the head of an upstream's answer; other stands for addresses that people choose.",
      labelNames: ["upstream"],
      buckets: shortTimes,
      registers,
    }),
    upstreamErrors: new Counter({
      name: "millrace_upstream_errors_total",
      help: "Upstream requests that failed, by status or by what broke.",
      labelNames: ["upstream", "reason"],
      registers,
    }),
    jobSeconds: new Histogram({
      name: "millrace_job_duration_seconds",
      help: "Time of each run of a job.",
      labelNames: ["job"],
      buckets: longTimes,
      registers,
    }),
    jobFailures: new Counter({
      name: "millrace_job_failures_total",
      help: "Runs of jobs that failed.",
      labelNames: ["job"],
      registers,
    }),
    querySeconds: new Histogram({
      name: "millrace_database_query_duration_seconds",
      help: "Time of each statement.",
      buckets: shortTimes,
      registers,
    }),
    queryErrors: new Counter({
      name: "millrace_database_errors_total",
      help: "Statements that failed.",
      registers,
    }),
  };
}

function addCalls(registers: Registry[]) {
  return {
    calls: new Counter({
      name: "millrace_model_calls_total",
      help: "Calls of models that are over.",
      labelNames: ["provider", "model", "outcome"],
      registers,
    }),
    tokens: new Counter({
      name: "millrace_tokens_total",
      help: "Tokens of model calls, read and written.",
      labelNames: ["provider", "model", "direction"],
      registers,
    }),
    firstToken: new Histogram({
      name: "millrace_time_to_first_token_seconds",
      help: "Time from a model call to the first piece of its answer.",
      labelNames: ["provider", "model"],
      buckets: longTimes,
      registers,
    }),
    callSeconds: new Histogram({
      name: "millrace_model_call_duration_seconds",
      help: "Time of a model call to the end of its answer.",
      labelNames: ["provider", "model"],
      buckets: longTimes,
      registers,
    }),
  };
}

/** Numbers that are read when they are asked for. */
function addQueues(registry: Registry, { gauges, jobs }: MetricSources): void {
  const queues = new Gauge({
    name: "millrace_job_queue_depth",
    help: "Runs of a job that wait, over all replicas.",
    labelNames: ["job"],
    registers: [],
    async collect() {
      // While the database is away the other metrics are wanted most.
      const records = await jobs().catch(() => []);
      this.reset();
      records.forEach(({ id, waiting }) => this.set({ job: id }, waiting));
    },
  });
  registry.registerMetric(queues);
  for (const { name, help, read } of gauges()) {
    const gauge = new Gauge({
      name: `millrace_${name}`,
      help,
      registers: [],
      collect() {
        this.set(read());
      },
    });
    registry.registerMetric(gauge);
  }
}
