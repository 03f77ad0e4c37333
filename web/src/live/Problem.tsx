// What went wrong, in one sentence, and a way out.
import type { ComponentChildren } from "preact";

interface Props {
  problem: Error;
  again: () => void;
  instead?: ComponentChildren; // another way out than to try again
  children?: ComponentChildren;
}

export function Problem({ problem, again, instead, children }: Props) {
  return (
    <div class="live-notice problem" role="alert">
      <p>{problem.message}</p>
      {instead ?? (
        <button type="button" name="again" class="quiet" onClick={again}>
          Try again
        </button>
      )}
      {children}
    </div>
  );
}
