/**
 * The limits of user code, in one place. Times in milliseconds. Suites that are about something else widen them
 * (`widenLimits`), or a busy machine would decide their outcome.
 */
export const limits = {
  /** Megabytes of one isolate (architecture.md §4). */
  isolateMegabytes: 64,
  /** Time on the processor between two waits: from a call's begin, or a host answer, until nothing is left to do. */
  sliceMs: 1000,
  /** A call in all, waiting for host functions included, when the caller names nothing else. */
  callMs: 30_000,
  /** A generator's time between two items that were asked for. */
  itemMs: 60_000,
  /** A short call on the event loop's own thread; what takes longer begins again on a thread beside it. */
  inlineMs: 20,
  /** Characters of the arguments of a short call. */
  inlineLength: 64 * 1024,
  /** Calls in time that forgive a timeout; a script with another one before half of them is left to threads. */
  successesToForgive: 100,
  /** How long a script whose calls were not short runs on threads before it is tried inline again. */
  inlinePauseMs: 5 * 60_000,
  /** Inline calls share so much of one turn of the event loop; the others wait for the next. */
  inlineTurnMs: 5,
  /** Compiling and evaluating a module whose stream hook runs on the main thread: longer than that would be felt. */
  streamLoadMs: 100,
  /** A batch of a stream (contract D.30). */
  streamMs: 20,
  /**
   * Batches that come sooner after a crossing wait for others: half of the time since the last batch of their stream,
   * within these bounds: too short to be noticed by a reader.
   */
  streamEveryMs: 5,
  streamEveryMostMs: 25,
  /** Characters that need not wait for others to make a crossing worth its price. */
  crossingWorth: 4096,
  /** Characters that cross at once: enough for hundreds of tokens, and quick enough for the time of one batch. */
  crossingLength: 64 * 1024,
  /** Crossings share so much of one turn of the event loop; one that would take longer carries less. */
  crossingMs: 5,
  /** Characters of a batch; a longer one, such as a picture, passes the stream hooks by. */
  batchLength: 2 ** 20,
  /** Characters and values of one member of a stream hook's context; it cannot read a longer one. */
  contextLength: 2 ** 20,
  contextValues: 2 ** 13,
  /** A hook that held the event loop for so long of the thread's own time is switched off at once. */
  heldMs: 250,
  /** A stopped isolate gets so long beyond its limit before it is given up. */
  graceMs: 1000,
  /** Characters of a source, of an answer, of arguments. */
  sourceLength: 512 * 1024,
  /** JSON of the data that a module exports: it stands in records and lists. */
  shapeLength: 512 * 1024,
  answerLength: 16 * 1024 * 1024,
  /** Levels of lists and objects in what code hands over, as in bodies of requests. */
  answerDepth: 200,
  argumentsLength: 16 * 1024 * 1024,
  /** Values in arguments: parsed, they take more room than their text. */
  argumentsValues: 2 ** 18,
  /** Characters of arguments in an isolate from which a memory overrun is not counted against its code. */
  givenLength: 2 ** 20,
  /** Bytes that an isolate with one booted context is taken to hold until it is measured. */
  freshBytes: 1_500_000,
  /** After an owner's isolate was opened, the next owner's is prepared when calls have had so long. */
  warmAfterMs: 20,
  /** Contexts of one isolate; the one that was unused longest goes first. */
  contexts: 64,
  /** An isolate that had this many contexts dropped is replaced, so that its garbage goes at once. */
  droppedContexts: 25,
  /** Timers of one call run at least this many milliseconds apart. */
  timerMs: 4,
  /** Overruns within `overrunWindowMs` after which the owner plugin is told. */
  overruns: 3,
  overrunWindowMs: 60_000,
  /** Lines and characters that are kept of a script's console. */
  logLines: 200,
  logCharacters: 64 * 1024,
};
