// Lecture mode: large type, the whole screen where the browser gives it, and nothing but the text and its picture.
import { useCallback, useEffect, useRef } from "preact/hooks";
import type { ChangeLive } from "./address";

/** Begins or ends it, by a button or the key "l"; Esc ends it, and so does leaving the whole screen. */
export function useLecture(isOn: boolean, change: ChangeLive): () => void {
  const entered = useRef(false); // the whole screen is ours
  const set = useCallback(
    (on: boolean) => {
      change({ lecture: on });
      (document.activeElement as HTMLElement | null)?.blur(); // the button: keys go to the picture
      if (on) void enter().then((done) => (entered.current = done));
      else if (document.fullscreenElement) void document.exitFullscreen();
    },
    [change],
  );
  useEffect(() => {
    const left = () => {
      if (document.fullscreenElement || !entered.current) return;
      entered.current = false;
      change({ lecture: false });
    };
    document.addEventListener("fullscreenchange", left);
    return () => document.removeEventListener("fullscreenchange", left);
  }, [change]);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input:not([type=checkbox]), select, textarea")) return;
      if (event.key === "l") set(!isOn);
      else if (event.key === "Escape" && isOn) set(false);
      else return;
      event.preventDefault();
      event.stopImmediatePropagation(); // Esc lets kept tokens go: another time
    };
    window.addEventListener("keydown", listen, { capture: true });
    return () => window.removeEventListener("keydown", listen, { capture: true });
  }, [isOn, set]);
  return useCallback(() => set(!isOn), [isOn, set]);
}

/** Whether the browser gives the whole screen; a phone's may not, and the page is large all the same. */
async function enter(): Promise<boolean> {
  try {
    await document.documentElement.requestFullscreen();
    return true;
  } catch {
    return false;
  }
}
