import { z } from "zod";

const Grant = z.object({
  principal_type: z.enum(["user", "group"]),
  principal_id: z.string().min(1).max(256),
  permission: z.enum(["read", "write"]),
});

/** Settings of a tool server beside its address (contract §5.1); unknown keys are kept. */
const ServerConfig = z.looseObject({
  enable: z.boolean().nullish(),
  /** Who may use it; without grants, administrators. */
  access_grants: z.array(Grant).max(1000).nullish(),
  /** Names of functions, separated by commas; those after `!` are left out. */
  function_name_filter_list: z.union([z.string().max(20_000), z.array(z.string().max(200))]).nullish(),
});

const ServerInfo = z.looseObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9_.-]*$/, "may hold letters, digits, dots, dashes and underscores")
    .max(100)
    .nullish(),
  name: z.string().max(200).nullish(),
  description: z.string().max(4000).nullish(),
});

/** A tool server as it is stored and as administrators send it (contract §5.1); unknown keys are kept. */
export const StoredServer = z.looseObject({
  url: z.string().trim().max(2048).nullish(),
  /** Where its OpenAPI document is: relative to `url`, or an address of its own. */
  path: z.string().trim().max(2048).nullish(),
  type: z.string().max(50).nullish(),
  auth_type: z.string().max(50).nullish(),
  key: z.string().trim().max(8192).nullish(),
  headers: z.union([z.record(z.string().max(200), z.string().max(8192)), z.literal("")]).nullish(),
  /** `json`: the document is `spec`, and nothing is fetched for it. */
  spec_type: z.string().max(50).nullish(),
  spec: z.union([z.string().max(5_000_000), z.record(z.string(), z.unknown())]).nullish(),
  config: ServerConfig.nullish(),
  info: ServerInfo.nullish(),
});

export type StoredServer = z.output<typeof StoredServer>;
