/** Loudness below this is never speech: root mean square, 0 to 1. */
const leastLevel = 0.012;
/** Speech is this much louder than the room. */
const overFloor = 2.5;
const beginsAfterMs = 200;
const endsAfterMs = 900;

export interface Hearing {
  /** Time of the sample in milliseconds. */
  readonly now: number;
  /** Above 1 it takes louder and longer speech, as while a reply is heard: its echo must not count. */
  readonly strictness?: number;
}

/** Finds where speech begins and ends by its loudness against the noise of the room. */
export class EnergyDetector {
  isSpeaking = false;
  #floor = leastLevel / overFloor;
  #loudSince: number | undefined;
  #lastLoud = 0;

  /** Takes the loudness of now; tells a change. Called about every 50 ms. */
  push(level: number, { now, strictness = 1 }: Hearing): "begins" | "ends" | undefined {
    const isLoud = level > this.threshold * strictness;
    if (isLoud) {
      this.#loudSince ??= now;
      this.#lastLoud = now;
    } else {
      this.#adapt(level);
      // Syllables have gaps: only a pause of some length begins the count anew.
      if (now - this.#lastLoud > 150) {
        this.#loudSince = undefined;
      }
    }
    const loudMs = isLoud && this.#loudSince !== undefined ? now - this.#loudSince : 0;
    if (!this.isSpeaking && loudMs >= beginsAfterMs * strictness) {
      this.isSpeaking = true;
      return "begins";
    }
    if (this.isSpeaking && now - this.#lastLoud >= endsAfterMs) {
      this.isSpeaking = false;
      this.#loudSince = undefined;
      return "ends";
    }
    return undefined;
  }

  get threshold(): number {
    return Math.max(leastLevel, this.#floor * overFloor);
  }

  reset(): void {
    this.isSpeaking = false;
    this.#loudSince = undefined;
  }

  /** Follows the noise of the room: down quickly, up slowly, so that speech itself does not raise it. */
  #adapt(level: number): void {
    this.#floor += (level - this.#floor) * (level < this.#floor ? 0.2 : 0.02);
  }
}
