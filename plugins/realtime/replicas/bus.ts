/** Carries texts between the replicas of an installation. */
export interface Bus {
  /** Resolves when the text is on its way to the others; rejects when it has to be sent again. */
  send(text: string): Promise<void>;
  /** `onGap` runs when texts may have been missed. */
  listen(handler: (text: string) => void, onGap: () => void): Promise<void>;
  /** Resolves when it works. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
