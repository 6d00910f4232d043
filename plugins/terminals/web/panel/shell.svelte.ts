import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { ask, type Place, post } from "../api.ts";
import { createColourFilter } from "./colours.ts";
import { themeOf } from "./theme.ts";
import { createStyledDocument, openStyled } from "./xterm-document.ts";

export type ShellState = "starting" | "open" | "lost" | "ended" | "failed";

/** One shell: a session on the server, its connection, and what it shows. It goes on while its panel is closed. */
export class Shell {
  readonly place: Place;
  readonly number: number;
  state = $state<ShellState>("starting");
  failure = $state<string>();
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #host = document.createElement("div");
  #socket: WebSocket | undefined;
  #session: string | undefined;
  #isOpened = false;
  /** Keys that were pressed before the connection stood. */
  readonly #typedAhead: Uint8Array<ArrayBuffer>[] = [];

  constructor(place: Place, number: number) {
    this.place = place;
    this.number = number;
    this.#terminal = new Terminal({
      fontFamily: "'JetBrains Mono Variable', ui-monospace, monospace",
      fontSize: 13,
      scrollback: 5_000,
      cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
      screenReaderMode: true,
      theme: themeOf(document.documentElement),
      documentOverride: createStyledDocument(),
    });
    this.#terminal.loadAddon(this.#fit);
    this.#host.className = "absolute inset-2";
    const encoder = new TextEncoder();
    this.#terminal.onData((data) => this.#send(encoder.encode(data)));
    this.#terminal.onBinary((data) => this.#send(Uint8Array.from(data, (one) => one.charCodeAt(0))));
    this.#terminal.onResize(({ cols, rows }) => this.#send(JSON.stringify({ type: "resize", cols, rows })));
    this.#terminal.attachCustomKeyEventHandler((event) => this.#key(event));
    void this.start();
  }

  /** Shows it in `element`; returns how to take it out again. */
  attach(element: HTMLElement): () => void {
    element.append(this.#host);
    if (!this.#isOpened) {
      this.#isOpened = true;
      openStyled(() => this.#terminal.open(this.#host));
    }
    this.#terminal.options.theme = themeOf(element);
    const observer = new ResizeObserver(() => this.#fit.fit());
    observer.observe(element);
    this.#fit.fit();
    return () => {
      observer.disconnect();
      this.#host.remove();
    };
  }

  focus(): void {
    this.#terminal.focus();
  }

  /** Begins a new session. */
  async start(): Promise<void> {
    this.state = "starting";
    this.failure = undefined;
    try {
      const made = (await (await post(this.place, "api/terminals", {})).json()) as { id: string };
      this.#session = made.id;
      this.#connect(made.id);
    } catch (error) {
      this.state = "failed";
      this.failure = (error as Error).message;
    }
  }

  /** Connects again: to the same session where the server still has it, else to a new one. */
  async resume(): Promise<void> {
    const session = this.#session;
    const isThere =
      session !== undefined &&
      (await ask(this.place, `api/terminals/${encodeURIComponent(session)}`).then(
        () => true,
        () => false,
      ));
    if (session !== undefined && isThere) {
      this.#connect(session);
    } else {
      this.#terminal.write(`\r\n\u001b[2m${t("The shell has ended. This is a new one.")}\u001b[0m\r\n`);
      await this.start();
    }
  }

  end(): void {
    this.#socket?.close();
    if (this.#session !== undefined) {
      void ask(this.place, `api/terminals/${encodeURIComponent(this.#session)}`, { method: "DELETE" }).catch(
        () => undefined,
      );
    }
    this.#terminal.dispose();
    this.#host.remove();
  }

  #connect(session: string): void {
    const { terminalId } = this.place;
    const address = `${location.origin.replace(/^http/, "ws")}/api/v1/terminals/${encodeURIComponent(terminalId)}/api/terminals/${encodeURIComponent(session)}`;
    // oxlint-disable-next-line eslint/no-restricted-globals -- a shell has a connection of its own, beside the events
    const socket = new WebSocket(address);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    const decoder = new TextDecoder();
    const filter = createColourFilter();
    socket.addEventListener("open", () => {
      // The session's cookie says who it is.
      socket.send(JSON.stringify({ type: "auth" }));
      const { cols, rows } = this.#terminal;
      socket.send(JSON.stringify({ type: "resize", cols, rows }));
      this.#typedAhead.splice(0).forEach((data) => socket.send(data));
      this.state = "open";
    });
    socket.addEventListener("message", ({ data }) => {
      const text = typeof data === "string" ? data : decoder.decode(data as ArrayBuffer, { stream: true });
      this.#terminal.write(filter(text));
    });
    socket.addEventListener("close", ({ code, reason }) => this.#closed(code, reason));
  }

  #closed(code: number, reason: string): void {
    const isOver = code === 1000 || code === 4004;
    this.state = isOver ? "ended" : "lost";
    this.failure = isOver ? undefined : reason || t("The connection was lost.");
  }

  #send(data: string | Uint8Array<ArrayBuffer>): void {
    const socket = this.#socket;
    if (socket !== undefined && socket.readyState === socket.OPEN) {
      socket.send(data);
    } else if (this.state === "starting" && typeof data !== "string" && this.#typedAhead.length < 1_000) {
      this.#typedAhead.push(data);
    }
  }

  /** Copies and pastes with Shift, so that Ctrl+C stays what it is in a shell. */
  #key(event: KeyboardEvent): boolean {
    const isOurs = event.type === "keydown" && event.ctrlKey && event.shiftKey;
    if (isOurs && event.code === "KeyC" && this.#terminal.hasSelection()) {
      void navigator.clipboard?.writeText(this.#terminal.getSelection());
      event.preventDefault();
      return false;
    }
    // Ctrl+Shift+V is the browser's own: it pastes into the field that xterm listens to.
    return !(isOurs && event.code === "KeyV");
  }
}
