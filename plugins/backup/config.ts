import { core } from "#config/core.ts";
import { storageVariables } from "#config/core-storage.ts";
import { grouped, int, oneOf, text } from "#config/variable.ts";

export const backupConfig = {
  ...grouped("Backup", {
    schedule: oneOf("BACKUP_SCHEDULE", ["off", "hourly", "daily", "weekly"], "off", {
      key: "backup.schedule",
      persisted: true,
      text: "How often the server backs itself up",
    }),
    target: text("BACKUP_TARGET", "", {
      text: "Folder or s3://bucket/prefix that the server's own backups go to; empty stands for backups in DATA_DIR",
    }),
    keep: int("BACKUP_KEEP", 7, {
      key: "backup.keep",
      persisted: true,
      min: 1,
      max: 1000,
      text: "Number of the server's own backups that are kept; older ones are removed",
    }),
  }),
  dataDir: core.dataDir,
  s3AccessKeyId: storageVariables.s3AccessKeyId,
  s3SecretAccessKey: storageVariables.s3SecretAccessKey,
  s3EndpointUrl: storageVariables.s3EndpointUrl,
  s3RegionName: storageVariables.s3RegionName,
  s3AddressingStyle: storageVariables.s3AddressingStyle,
};
