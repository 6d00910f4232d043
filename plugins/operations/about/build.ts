import type { ConfigRegistry } from "#config/registry.ts";

/** How this process was built and where it runs (configuration document, build and hardware flags). */
export interface BuildFacts {
  /** WEBUI_BUILD_HASH. */
  readonly hash: string;
  /** DOCKER: in its container image. */
  readonly container: boolean;
  /** USE_SLIM_DOCKER: an image without what the platform can do without. */
  readonly slim: boolean;
  /** USE_CUDA_DOCKER: an image that brings CUDA. */
  readonly cuda_image: boolean;
  /** USE_CUDA: a CUDA device was asked for. */
  readonly cuda: boolean;
  /** DEVICE_TYPE: cuda, mps or cpu. */
  readonly device: string;
}

/** Reads the facts, which do not change while the process runs. */
export function readBuildFacts(configuration: Pick<ConfigRegistry, "valueOf">): BuildFacts {
  const valueOf = (name: string) => configuration.valueOf(name);
  return {
    hash: String(valueOf("WEBUI_BUILD_HASH")),
    container: valueOf("DOCKER") === true,
    slim: valueOf("USE_SLIM_DOCKER") === true,
    cuda_image: valueOf("USE_CUDA_DOCKER") === true,
    cuda: valueOf("USE_CUDA") === true,
    device: String(valueOf("DEVICE_TYPE")),
  };
}
