// Pages on paper: light, as wide as a sheet, nothing scrolled away. A browser prints as soon as its `beforeprint` is
// answered and waits for no frame, so what is drawn for paper is drawn then, in microtasks.
import { options } from "preact";
import { useEffect, useState } from "preact/hooks";

export const SHEET = { width: 690, height: 900 }; // CSS pixels that A4 and US letter both have, upright, within margins

type Flush = (effects: () => void) => void;
const hooks = options as { requestAnimationFrame?: Flush }; // when preact's hooks run effects

const listeners = new Set<() => void>();
let media: MediaQueryList | null = null;
let asked = false; // between beforeprint and afterprint

export function isPrinting(): boolean {
  return asked || Boolean(media?.matches);
}

function tell(): void {
  hooks.requestAnimationFrame = isPrinting() ? queueMicrotask : undefined;
  for (const listener of [...listeners]) listener();
}

/** Once a page, before anything is drawn. */
export function watchPrinting(): void {
  media = window.matchMedia("print");
  media.addEventListener("change", tell);
  const ask = (now: boolean) => () => {
    asked = now;
    tell();
  };
  window.addEventListener("beforeprint", ask(true));
  window.addEventListener("afterprint", ask(false));
}

/** Whether what is drawn is for paper. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(isPrinting);
  useEffect(() => {
    const listen = () => setPrinting(isPrinting());
    listeners.add(listen);
    return () => {
      listeners.delete(listen);
    };
  }, []);
  return printing;
}
