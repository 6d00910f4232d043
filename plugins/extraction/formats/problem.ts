/** A document that cannot be read; the message is shown to the person who sent it. */
export class DocumentProblem extends Error {
  override readonly name = "DocumentProblem";
  /** True when an archive must not go on with its other members: a bomb, or a limit of the whole. */
  readonly isFatal: boolean;

  constructor(message: string, { isFatal = false, cause }: { isFatal?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isFatal = isFatal;
  }
}

export const isProtected = (kind = "The document") =>
  new DocumentProblem(`${kind} is protected by a password.`);

export const isDamaged = (kind: string, cause?: unknown) =>
  new DocumentProblem(`${kind} is damaged and cannot be read.`, { cause });
