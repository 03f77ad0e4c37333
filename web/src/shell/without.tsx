// Heads that are taken out of the model, where a page can do that (the live one): which are out, a button and a key for it.
import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";

/** Heads go by their whole names: `decoder self 17.3`. */
export interface Without {
  out: ReadonlySet<string>;
  set: (heads: string[], isOut: boolean) => void;
  hasKey: boolean; // of two texts only the first listens
}

export const WithoutContext = createContext<Without | null>(null);

/** Null where heads cannot be taken out: a page from a file has no model. */
export function useWithout(): Without | null {
  return useContext(WithoutContext);
}

/** Out, where one of them is still in; else all of them back. */
function turn(without: Without, heads: string[]): void {
  without.set(heads, heads.some((head) => !without.out.has(head)));
}

/** The key x takes these heads out, or puts them back. */
export function useOutKey(heads: string[]): void {
  const without = useWithout();
  useEffect(() => {
    if (!without?.hasKey || heads.length === 0) return undefined;
    const listen = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key !== "x" || event.ctrlKey || event.metaKey || event.altKey || target.closest("input:not([type=checkbox]), select, textarea")) return;
      event.preventDefault();
      turn(without, heads);
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [without, heads.join()]);
}

/** Alt and a click: this head out, or back. False where the click means something else. */
export function useOutClick(): (event: MouseEvent, head: string) => boolean {
  const without = useWithout();
  return (event, head) => {
    if (!without || !event.altKey) return false;
    turn(without, [head]);
    return true;
  };
}

/** `what` names them: "17.3", "layer 17". */
export function TakeOut({ heads, what }: { heads: string[]; what: string }) {
  const without = useWithout();
  if (!without) return null;
  const isOut = heads.length > 0 && heads.every((head) => without.out.has(head));
  return (
    <button
      type="button"
      name="take-out"
      class="quiet"
      disabled={heads.length === 0}
      title={`${isOut ? "The model runs with it again" : "The model runs without it: what it predicts then stands under the text"} (the key x)`}
      onClick={() => turn(without, heads)}
    >
      {isOut ? `put ${what} back` : `take ${what} out`}
    </button>
  );
}
