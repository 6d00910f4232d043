/** Origins that the policy of a document names besides its own. */
export interface PolicyOrigins {
  /** Under which the browser knows this platform; empty when no policy can name it, as with a literal IPv6 address. */
  readonly own: readonly string[];
  /** The person's own servers, which the page calls itself. */
  readonly called: readonly string[];
}

/** The document of the interface: no inline script or style, nothing from elsewhere, in nobody's frame. */
export function toDocumentPolicy({ own, called }: PolicyOrigins): string {
  // A frame that navigates itself is held by this list as well: it can neither leave the platform nor open its pages.
  // Files are answered as downloads, or as kinds that run nothing (contract 6.1).
  const framed =
    own.length === 0
      ? ["'self'"]
      : own.flatMap((at) => [`${at}/preview/`, `${at}/frames/`, `${at}/api/v1/files/`]);
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "media-src 'self' blob: data:",
    ["connect-src 'self'", ...called].join(" "),
    ["frame-src", ...framed].join(" "),
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Everything that is no document: what a browser shows of it when it is opened by its address may do nothing. */
export const filePolicy = "default-src 'none'; frame-ancestors 'none'";

/**
 * A frame of the build, which draws what others wrote: an opaque origin, so `'self'` would fit nothing, and no way out
 * to the network.
 */
export function toFramePolicy(own: readonly string[]): string {
  const files = own.length === 0 ? ["http:", "https:"] : own.map((at) => `${at}/assets/`);
  return [
    "sandbox allow-scripts",
    "default-src 'none'",
    ["script-src", ...files].join(" "),
    ["style-src 'unsafe-inline'", ...files].join(" "),
    "img-src data:",
    "font-src data:",
    "frame-ancestors 'self'",
  ].join("; ");
}

/**
 * The frame in which Python runs: like the others an opaque origin, and the one document whose scripts may compile
 * WebAssembly. It reaches the files of Pyodide and nothing else. Its worker is a `blob:`, the only kind that such an
 * origin can start, and has the policy of the frame.
 */
export function toPythonPolicy(own: readonly string[]): string {
  const assets = own.length === 0 ? ["http:", "https:"] : own.map((at) => `${at}/assets/`);
  const runtime = own.length === 0 ? ["http:", "https:"] : own.map((at) => `${at}/pyodide/`);
  return [
    "sandbox allow-scripts",
    "default-src 'none'",
    ["script-src 'wasm-unsafe-eval' blob:", ...assets, ...runtime].join(" "),
    "worker-src blob:",
    ["connect-src", ...runtime].join(" "),
    "frame-ancestors 'self'",
  ].join("; ");
}

/** Origins of http and https addresses in the form that a policy can name; everything else is left out. */
export function toPolicyOrigins(addresses: readonly unknown[], most = 50): string[] {
  const origins = addresses.flatMap((address) => {
    const url = typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined;
    return url && /^https?:\/\/[a-z0-9.-]+(:\d+)?$/.test(url.origin) ? [url.origin] : [];
  });
  return [...new Set(origins)].slice(0, most);
}
