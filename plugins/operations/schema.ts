import { z } from "zod";

const names = z.array(z.string());
const seconds = z.int().nullable();

const Plugin = z
  .object({
    id: z.string(),
    title: z.string(),
    summary: z.string().nullable(),
    state: z.enum(["on", "off", "disabled", "broken"]),
    reason: z.string().nullable(),
    folder: z.string().nullable(),
    switch: z.object({ variable: z.string(), live: z.boolean(), value: z.boolean() }).nullable(),
    switches: names,
    variables: names,
    provides: names,
    uses: z.array(z.object({ id: z.string(), kind: z.enum(["service", "optional", "slot"]) })),
    fills: names,
    routes: z.array(
      z.object({ method: z.string(), path: z.string(), access: z.string(), summary: z.string() }),
    ),
    pages: z.array(z.object({ path: z.string(), title: z.string(), access: z.string() })),
    filters: names,
    tools: names,
    providers: names,
    jobs: names,
    sockets: names,
    tables: names,
    permissions: names,
    commands: names,
  })
  .meta({ id: "PluginRecord" });

export const PluginsAnswer = z.object({
  plugins: z.array(Plugin),
  services: z.array(
    z.object({
      id: z.string(),
      provider: z.string().nullable(),
      users: z.array(z.object({ id: z.string(), optional: z.boolean() })),
      candidates: names,
    }),
  ),
  disabled: names,
  path: z.string().nullable(),
});

const Job = z
  .object({
    id: z.string(),
    title: z.string().nullable().describe("What it does, in English"),
    plugin: z.string(),
    enabled: z.boolean(),
    every: z.number().nullable(),
    last_run_at: seconds,
    last_state: z.enum(["completed", "failed", "active"]).nullable(),
    last_duration_ms: z.int().nullable(),
    next_run_at: seconds,
    waiting: z.int(),
    failed: z.int(),
    last_error: z.string().nullable(),
    last_error_at: seconds,
  })
  .meta({ id: "JobRecord" });

export const JobsAnswer = z.object({ data: z.array(Job) });

export const HealthAnswer = z
  .object({
    components: z.array(
      z.object({
        id: z.enum(["database", "blobs", "bus", "checks"]),
        state: z.enum(["working", "failing"]),
        latency_ms: z.int().nullable(),
        reason: z.string().nullable(),
        history: z
          .array(z.object({ at: z.int(), latency_ms: z.int().nullable() }))
          .describe("One look a minute within the last hour, oldest first; null where it failed"),
      }),
    ),
    queues: z.array(z.object({ id: z.string(), title: z.string().nullable(), waiting: z.int() })),
    disk: z.object({ path: z.string(), free_bytes: z.number(), total_bytes: z.number() }).nullable(),
    backup: z
      .object({
        name: z.string(),
        started_at: z.int(),
        bytes: z.number().nullable(),
        verified_at: seconds,
      })
      .nullable()
      .describe("The newest backup that is there"),
    upstreams: z
      .array(z.object({ name: z.string(), calls: z.int(), failed: z.int() }))
      .describe("Model calls of the last hour, as this process saw them"),
    replicas: z.array(
      z.object({
        instance_id: z.string(),
        version: z.string(),
        node: z.string(),
        started_at: z.int(),
        memory_bytes: z.int(),
        is_this: z.boolean(),
      }),
    ),
    versions: z.object({
      platform: z.string(),
      node: z.string(),
      database: z.string(),
      database_kind: z.string(),
    }),
    database_bytes: z.number().nullable(),
    deployment_id: z.string(),
  })
  .meta({ id: "HealthReport" });

const License = z
  .object({
    state: z.enum(["none", "noted", "valid", "expired", "unreadable"]),
    reason: z.string().nullable(),
    key_hint: z.string().nullable(),
    file: z.object({ path: z.string(), bytes: z.int() }).nullable(),
    public_key: z.string().nullable(),
    licensee: z.string().nullable(),
    seats: z.number().nullable(),
    expires: z.string().nullable(),
  })
  .meta({ id: "LicenseReport" });

export const AboutAnswer = z.object({
  build: z.object({
    hash: z.string(),
    container: z.boolean(),
    slim: z.boolean(),
    cuda_image: z.boolean(),
    cuda: z.boolean(),
    device: z.string(),
  }),
  license: License,
});

export const ErrorsAnswer = z.object({
  /** The process whose failures these are. */
  instance_id: z.string(),
  data: z.array(
    z.object({
      request_id: z.string(),
      at: z.int(),
      plugin: z.string(),
      method: z.string(),
      path: z.string(),
      status: z.int(),
      answer: z.string(),
      cause: z.string().nullable(),
    }),
  ),
});
