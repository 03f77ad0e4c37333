// What stands between a text and its picture: waiting, a refusal with a way out, a server that is gone, a text cut off.
import { Gone } from "./api";
import { Problem } from "./Problem";
import type { Reading } from "./useReading";

interface Props {
  reading: Reading;
  truncated: string; // a sentence where the text was cut off
  truncate: (wanted: boolean) => void;
  again: () => void;
}

export function Notice({ reading, truncated, truncate, again }: Props) {
  const { problem, waiting, note } = reading;
  if (problem) {
    const shorten = (
      <button type="button" name="truncate" class="quiet" onClick={() => truncate(true)}>
        Read its beginning
      </button>
    );
    return (
      <Problem problem={problem} again={again} instead={isTooLong(problem) ? shorten : undefined}>
        {problem instanceof Gone && reading.answer && <p class="live-aside">The picture below is of the last answer.</p>}
      </Problem>
    );
  }
  return (
    <div class={waiting ? "live-notice waiting" : "live-notice"} role="status">
      {waiting && <i class="live-progress" aria-hidden="true" />}
      {waiting ? (
        <p class={note || !reading.answer ? "live-note" : "visually-hidden"}>{note || "Reading …"}</p>
      ) : (
        truncated && (
          <p class="live-note">
            {truncated}{" "}
            <button type="button" name="whole" class="quiet" onClick={() => truncate(false)}>
              do not cut it off
            </button>
          </p>
        )
      )}
    </div>
  );
}

/** The server says how long a text may be, and what cutting it off is called. */
function isTooLong(problem: Error): boolean {
  return /truncat/i.test(problem.message);
}
