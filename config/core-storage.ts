import { bool, oneOf, text } from "./variable.ts";

/** Where the bytes of files live. */
export const storageVariables = {
  dataDir: text("DATA_DIR", "./data", { text: "Folder of the embedded database, of files and of caches" }),
  storageProvider: oneOf("STORAGE_PROVIDER", ["", "local", "s3"], "", {
    text: "Where files are kept: empty or local for DATA_DIR, s3 for a bucket",
  }),
  s3AccessKeyId: text("S3_ACCESS_KEY_ID", null, { secret: true, text: "Access key id of the bucket" }),
  s3SecretAccessKey: text("S3_SECRET_ACCESS_KEY", null, {
    secret: true,
    text: "Secret access key of the bucket",
  }),
  s3EndpointUrl: text("S3_ENDPOINT_URL", null, {
    text: "Address of the object store, for stores other than the best-known one",
  }),
  s3RegionName: text("S3_REGION_NAME", null, { text: "Region of the bucket" }),
  s3BucketName: text("S3_BUCKET_NAME", null, { text: "Name of the bucket" }),
  s3KeyPrefix: text("S3_KEY_PREFIX", "", { text: "Put before every object's key" }),
  s3AddressingStyle: oneOf("S3_ADDRESSING_STYLE", ["auto", "path", "virtual"], "auto", {
    text: "Whether the bucket stands in the path or in the host name",
  }),
  s3UseAccelerateEndpoint: bool("S3_USE_ACCELERATE_ENDPOINT", false, {
    text: "Uses the store's accelerated endpoint",
  }),
  s3EnableTagging: bool("S3_ENABLE_TAGGING", false, {
    text: "Tags uploaded objects with facts about the file",
  }),
};
