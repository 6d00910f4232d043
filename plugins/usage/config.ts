import { bool, int, type Values } from "#config/variable.ts";

/** The variables of usage records. */
export const usageVariables = {
  analytics: bool("ENABLE_ADMIN_ANALYTICS", true, {
    text: "Administrators see who used which model how much",
  }),
  keepDays: int("USAGE_RECORD_RETENTION_DAYS", 90, {
    min: 1,
    key: "usage.retention_days",
    persisted: true,
    text: "Days after which the records of single model calls are deleted; the sums of each day stay",
  }),
  bufferSize: int("USAGE_RECORD_BUFFER_SIZE", 20_000, {
    min: 500,
    text: "Usage records that wait in memory while the database does not answer; further ones are lost",
  }),
};

export type UsageConfig = Values<typeof usageVariables>;
