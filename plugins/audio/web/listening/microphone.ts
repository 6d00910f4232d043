import { t } from "#plugins/web/kit/i18n/index.svelte.ts";

const noises: MediaTrackConstraints = {
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
};

/** The open microphone. */
export interface Microphone {
  readonly stream: MediaStream;
  /** Loudness of now: root mean square of the samples, 0 to 1. */
  level(): number;
  /** Called when the device goes away. */
  onend(lost: () => void): void;
  close(): void;
}

/** Opens the microphone; the browser asks the person first. Rejects with the reason in words. */
export async function openMicrophone(): Promise<Microphone> {
  if (!globalThis.isSecureContext || !navigator.mediaDevices) {
    throw new Error(
      t("Browsers open the microphone on secure pages alone. Open this page by its https address."),
    );
  }
  let stream: MediaStream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ audio: noises });
  } catch (error) {
    throw new Error(toReason(error as DOMException), { cause: error });
  }
  const context = new AudioContext();
  void context.resume();
  const analyser = context.createAnalyser();
  analyser.fftSize = 1024;
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  return {
    stream,
    level() {
      analyser.getFloatTimeDomainData(samples);
      return Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length);
    },
    onend: (lost) =>
      stream.getTracks().forEach((track) => track.addEventListener("ended", lost, { once: true })),
    close() {
      stream.getTracks().forEach((track) => track.stop());
      if (context.state !== "closed") {
        void context.close();
      }
    },
  };
}

function toReason({ name, message }: DOMException): string {
  if (name === "NotAllowedError" || name === "SecurityError") {
    return t("The browser may not use the microphone. Allow it for this page beside its address.");
  }
  if (name === "NotFoundError" || name === "OverconstrainedError") {
    return t("There is no microphone on this device.");
  }
  if (name === "NotReadableError") {
    return t("Another program holds the microphone. Close it and try again.");
  }
  return t("The microphone did not open: {reason}", { reason: message });
}
