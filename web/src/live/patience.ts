// Asking a busy server again, when it says so.
import { Refusal } from "./api";

const USUAL_WAIT = 2; // seconds, where the server does not say how many

/** What `ask` gives; while the server is busy it is asked again and again, and `note` hears when. */
export async function patiently<T>(ask: () => Promise<T>, signal: AbortSignal, note: (sentence: string) => void): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Refusal && error.isBusy)) throw error;
      const seconds = Math.max(1, error.retryAfter ?? USUAL_WAIT);
      note(`The server is busy: asking again in ${seconds} s.`);
      await pause(seconds, signal);
      note("");
    }
  }
}

function pause(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
