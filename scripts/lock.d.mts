/** Resolves to what releases the lock; `onWait` runs when another process has it. */
export function takeLock(path: string, onWait?: () => void): Promise<() => void>;
