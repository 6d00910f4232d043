import { StorageError } from "../errors.ts";
import type { BlobOptions } from "./store.ts";

/** The bucket's address without a slash at the end. Throws StorageError for what is missing. */
export function toAddress(options: BlobOptions): string {
  const bucket = options.s3BucketName;
  if (!bucket) {
    throw new StorageError("STORAGE_PROVIDER is s3, so S3_BUCKET_NAME is needed");
  }
  if (options.s3UseAccelerateEndpoint) {
    return `https://${bucket}.s3-accelerate.amazonaws.com`;
  }
  const given = options.s3EndpointUrl;
  if (given && !URL.canParse(given)) {
    throw new StorageError("S3_ENDPOINT_URL cannot be read. It should look like https://host:9000");
  }
  const endpoint = new URL(given || `https://s3.${regionOf(options)}.amazonaws.com`);
  const style = options.s3AddressingStyle ?? "auto";
  const path = endpoint.pathname.replace(/(?<!\/)\/+$/, "");
  // Stores of one's own rarely have a host name per bucket.
  return style === "virtual" || (style === "auto" && !given)
    ? `${endpoint.protocol}//${bucket}.${endpoint.host}${path}`
    : `${endpoint.origin}${path}/${bucket}`;
}

/** The region that requests are signed for. */
export function regionOf(options: BlobOptions): string {
  return options.s3RegionName || "us-east-1";
}
