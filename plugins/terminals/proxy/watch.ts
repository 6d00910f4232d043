import type { Principal } from "#kernel/access/principal.ts";

/** Something that goes on at a terminal: a download, an open socket. */
export interface Use {
  readonly terminalId: string;
  caller(): Principal;
  end(): void;
}

/** Ends what goes on at terminals as soon as its caller may no longer use them. */
export interface Watch {
  /** Returns how to stop watching. */
  add(use: Use): () => void;
  check(use: Use): void;
  /** Looks at all again, after the connections changed. */
  checkAll(): void;
}

export function createWatch(isUsable: (caller: Principal, terminalId: string) => boolean): Watch {
  const open = new Set<Use>();
  const check = (use: Use) => {
    if (!isUsable(use.caller(), use.terminalId)) {
      use.end();
    }
  };
  return {
    add(use) {
      open.add(use);
      return () => void open.delete(use);
    },
    check,
    checkAll: () => [...open].forEach(check),
  };
}
