import type { FromPython, ToPython } from "#plugins/web/kit/frames/python-messages.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";

/** Python in a hidden frame; ended by taking the frame away, whatever it is doing. */
export interface PythonFrame {
  /** Resolves when Python can run; rejects when it could not be loaded in time. */
  readonly ready: Promise<void>;
  send(message: ToPython): void;
  listen(listener: (message: FromPython) => void): () => void;
  close(): void;
}

/** A missing permission to compile makes loading hang without an error, and slow networks do as well. */
const loadMs = 90_000;

/** Opens a frame and loads Python in it; `base` is the address of Pyodide's files. */
export function openPythonFrame({ base, memory }: { base: string; memory: number }): PythonFrame {
  const frame = document.createElement("iframe");
  frame.src = "/frames/python.html";
  frame.title = "Python";
  frame.setAttribute("sandbox", "allow-scripts");
  frame.hidden = true;
  const listeners = new Set<(message: FromPython) => void>();
  const send = (message: ToPython) => frame.contentWindow?.postMessage(message, "*");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => reject(new Error(t("Python did not load in time. Check the connection and try again."))),
    loadMs,
  );

  function receive({ source, data }: MessageEvent<FromPython>): void {
    if (source !== frame.contentWindow) {
      return;
    }
    switch (data.type) {
      case "worker":
        send({ type: "load", base, memory });
        break;
      case "ready":
        resolve();
        break;
      case "broken":
        reject(new Error(t("Python could not be loaded: {reason}", { reason: data.message.slice(0, 300) })));
        break;
    }
    listeners.forEach((listener) => listener(data));
  }
  addEventListener("message", receive);
  document.body.append(frame);
  promise.catch(() => undefined).finally(() => clearTimeout(timer));
  return {
    ready: promise,
    send,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      removeEventListener("message", receive);
      frame.remove();
      reject(new Error(t("Python was stopped.")));
    },
  };
}
