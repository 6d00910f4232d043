// oxlint-disable-next-line import/default -- the bundler makes it
import workerAddress from "./python-worker.ts?worker&url";

// Python runs in a worker of a frame without an origin: code that others wrote reaches neither the page, its session
// nor the network. An opaque origin can start workers from a `blob:` alone, so that is what imports the real one.

const address = new URL(workerAddress, document.baseURI).href;
// A static import would count as a worker of another origin; the failure of a dynamic one can be told, too.
const source = `import(${JSON.stringify(address)}).catch((error) => postMessage({ type: "broken", message: String(error) }));`;
const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
const tell = (message: object) => parent.postMessage(message, "*");

worker.addEventListener("error", ({ message }) => tell({ type: "broken", message: message ?? "" }));
worker.addEventListener("message", ({ data }) => tell(data as object));
addEventListener("message", ({ data, source: from }) => {
  if (from === parent) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
    worker.postMessage(data);
  }
});
tell({ type: "frame" });
