// A page in a notebook's frame: where the notebook answers, its frame becomes as high as the page (views/frame.py is the
// notebook's side). Nothing but heights goes out, and nothing but that answer is listened to.
import { useEffect, useState } from "preact/hooks";
import { zoomOf } from "./zoom";

const ROOM = 900; // CSS pixels that are laid out for, where the frame's height follows the page and says nothing itself

const listeners = new Set<() => void>();
let grows = false;

export function frameGrows(): boolean {
  return grows;
}

/** Once a page, when its app is there. */
export function askToGrow(app: HTMLElement): void {
  if (window.parent === window) return;
  const say = (headscope: string | number) => window.parent.postMessage({ headscope }, "*");
  window.addEventListener("message", (event) => {
    if (grows || event.source !== window.parent || event.data?.headscope !== "grow") return;
    grows = true;
    document.documentElement.style.setProperty("--screen", `${ROOM}px`);
    for (const listener of [...listeners]) listener();
    new ResizeObserver(() => say(Math.ceil(app.getBoundingClientRect().height))).observe(app);
  });
  say("grow?");
}

/** How many pixels high a drawing may be that should be seen whole. */
export function useScreenHeight(): number {
  const [growing, setGrowing] = useState(grows);
  useEffect(() => {
    const listen = () => setGrowing(true);
    listeners.add(listen);
    return () => {
      listeners.delete(listen);
    };
  }, []);
  return growing ? ROOM : window.innerHeight / zoomOf(document.querySelector(".page"));
}
