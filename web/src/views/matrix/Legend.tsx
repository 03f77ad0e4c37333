// What the colours mean, in numbers.
import { useEffect, useRef } from "preact/hooks";
import { number, prepare } from "../../drawing/canvas";
import { css, diverging, sequential } from "../../drawing/colours";
import type { Scale } from "../../schema";
import { useViewed } from "../../shell/viewed";
import type { Panel } from "./panels";
import { DECADES } from "./scale";

const [WIDTH, HEIGHT] = [104, 10];

export function Legend({ panel }: { panel: Panel }) {
  const { dark, state: { scale } } = useViewed();
  const ref = useRef<HTMLCanvasElement>(null);
  const { signed, most } = panel;
  useEffect(() => {
    if (!ref.current) return;
    const context = prepare(ref.current, WIDTH, HEIGHT);
    for (let x = 0; x < WIDTH; x++) {
      const share = x / (WIDTH - 1);
      context.fillStyle = css(signed ? diverging(2 * share - 1, dark) : sequential(share, dark));
      context.fillRect(x, 0, 1, HEIGHT);
    }
  }, [signed, dark]);
  if (most === 0) return <p class="matrix-legend">{panel.name === "difference" ? "There is no difference." : "All scores here are 0."}</p>;
  return (
    <p class="matrix-legend" data-least={signed ? -most : 0} data-most={most}>
      <span>{lowest(scale, signed, most)}</span>
      <canvas ref={ref} aria-hidden="true" />
      <span>{scale === "row" ? "the largest of its row" : number(most)}</span>
      {scale === "log" && <span>by powers of ten</span>}
      {signed && <span class="matrix-signs">{panel.signs}</span>}
    </p>
  );
}

/** The end of the scale where colours are weakest; with signs, where they are strongest below zero. */
function lowest(scale: Scale, signed: boolean, most: number): string {
  if (signed) return scale === "row" ? "−1" : `−${number(most)}`;
  return scale === "log" ? number(most / 10 ** DECADES) : "0";
}
