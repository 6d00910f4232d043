import type { FromPython, Shown } from "../../kit/frames/python-messages.ts";

/** Takes what code prints and shows. */
export interface Printer {
  begin(): void;
  print(name: "stdout" | "stderr", text: string): void;
  /** A picture (`image/…`), HTML, or a file that was written. */
  show(type: string, data: unknown): void;
  flush(): void;
  shown(): Shown;
}

/** Characters that are shown of each text; a loop that prints would flood the page otherwise. */
const most = 100_000;
const mostShown = 20;
const everyMs = 50;

/** Creates the printer: output goes out in batches, also from a loop that lets no timer run. */
export function createPrinter(tell: (message: FromPython) => void): Printer {
  let batches = { stdout: "", stderr: "" };
  let sizes = { stdout: 0, stderr: 0 };
  let sentAt = 0;
  let html: string[] = [];
  let files: { name: string; bytes: Uint8Array; contentType: string }[] = [];

  function flush(): void {
    for (const name of ["stdout", "stderr"] as const) {
      if (batches[name] !== "") {
        tell({ type: "output", name, text: batches[name] });
      }
    }
    batches = { stdout: "", stderr: "" };
    sentAt = performance.now();
  }

  return {
    begin() {
      [html, files] = [[], []];
      sizes = { stdout: 0, stderr: 0 };
    },
    print(name, text) {
      const room = most - sizes[name];
      if (room > 0) {
        batches[name] += text.length > room ? `${text.slice(0, room)}\n[output truncated]\n` : text;
        sizes[name] += text.length;
      }
      if (performance.now() - sentAt > everyMs) {
        flush();
      }
    },
    show(type, data) {
      if (type === "text/html") {
        if (html.length < mostShown) {
          html.push(String(data).slice(0, 500_000));
        }
        return;
      }
      const { name, bytes } = toFile(type, data, files.length);
      if (files.length < mostShown) {
        files.push({ name, bytes, contentType: type });
      }
    },
    flush,
    shown: () => ({ html, files }),
  };
}

/** A name and bytes; bytes of Python may come as a proxy, which ends with the call. */
function toFile(type: string, data: unknown, count: number): { name: string; bytes: Uint8Array } {
  const [name, given] = data as [string, Uint8Array | { toJs(): Uint8Array }];
  const bytes = "toJs" in given ? given.toJs() : given;
  const ending = type.split("/")[1]?.split("+")[0] ?? "bin";
  return { name: name === "" ? `picture-${count + 1}.${ending}` : name, bytes: new Uint8Array(bytes) };
}
