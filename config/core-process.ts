import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseBool } from "./parse.ts";
import { bool, text } from "./variable.ts";
import type { Environment } from "./variable.ts";

const noLocalModels = "no model runs on a device of this machine";

/** Facts about the build and the machine, and the license files. */
export const processVariables = {
  buildHash: text("WEBUI_BUILD_HASH", "dev-build", {
    text: "Identifier of the commit this build was made from, shown by GET /api/version and /api/config",
  }),
  useCudaDocker: bool("USE_CUDA_DOCKER", false, {
    text: "The container image brings CUDA",
    noEffect: noLocalModels,
  }),
  useSlimDocker: bool("USE_SLIM_DOCKER", false, {
    text: "The container image leaves out what the platform can do without; a build argument of the image",
  }),
  docker: bool("DOCKER", false, { ignoreInvalid: true, text: "The process runs in its container image" }),
  useCuda: bool("USE_CUDA", false, {
    text: "A CUDA device is to be used when there is one",
    noEffect: noLocalModels,
  }),
  deviceType: text("DEVICE_TYPE", "cpu", {
    settable: false,
    computed: { shown: "cpu", from: findDevice },
    text: "Device of local models: cuda, mps or cpu; found out by the process, not settable",
  }),
  licenseKey: text("LICENSE_KEY", null, {
    secret: true,
    text: "License key that opens the license file; shown to administrators, nothing depends on it",
  }),
  licenseBlobPath: text("LICENSE_BLOB_PATH", "./data/l.data", {
    computed: {
      shown: "<DATA_DIR>/l.data",
      from: (environment) => join(environment["DATA_DIR"] || "./data", "l.data"),
    },
    text: "License file, read at the start and shown to administrators; nothing depends on it",
  }),
  licensePublicKey: text("LICENSE_PUBLIC_KEY", "", {
    text: "Public key (Ed25519) that the license file is checked against",
  }),
};

function findDevice(environment: Environment): string {
  const wantsCuda = ["USE_CUDA", "USE_CUDA_DOCKER"].some(
    (name) => parseBool(environment[name] ?? "").value === true,
  );
  if (wantsCuda && existsSync("/dev/nvidiactl")) {
    return "cuda";
  }
  return process.platform === "darwin" && process.arch === "arm64" ? "mps" : "cpu";
}
