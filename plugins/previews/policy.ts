import type { PreviewTable } from "./tables.ts";

/**
 * `allow-scripts` without `allow-same-origin`: scripts run in an origin that has no cookies, no storage and no way to
 * the page around it. `allow-forms`: without it, forms would not even tell their own scripts that they were sent;
 * where they are sent to is forbidden below. Not given: pop-ups, downloads, top navigation and pointer lock, because
 * each takes something out of the frame, and modals, because they stop the page around it.
 */
const sandboxes: Readonly<Record<PreviewTable["kind"], string>> = {
  html: "sandbox allow-scripts allow-forms",
  svg: "sandbox",
};

/** What the document carries along, and nothing of the network: what a model wrote must not carry a chat away. */
const resources: Readonly<Record<PreviewTable["kind"], readonly string[]>> = {
  html: [
    "default-src 'none'",
    "script-src 'unsafe-inline' 'unsafe-eval' data: blob:",
    "style-src 'unsafe-inline' data: blob:",
    "img-src data: blob:",
    "font-src data: blob:",
    "media-src data: blob:",
    "worker-src data: blob:",
    "connect-src 'none'",
    "frame-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
  ],
  svg: ["default-src 'none'", "style-src 'unsafe-inline'", "img-src data:", "font-src data:"],
};

/**
 * The policy of one document. Operators replace what it may load by `IFRAME_CSP`; of two directives with one name the
 * first counts, so neither the sandbox nor the frame's place can be changed by it.
 */
export function toPreviewPolicy(kind: PreviewTable["kind"], iframeCsp: string): string {
  // A comma would begin a policy of its own, a line break another header.
  const own = iframeCsp.replaceAll(/[\s,]+/g, " ").trim();
  const loaded = kind === "html" && own !== "" ? own : resources[kind].join("; ");
  return `${sandboxes[kind]}; frame-ancestors 'self'; ${loaded}`;
}
