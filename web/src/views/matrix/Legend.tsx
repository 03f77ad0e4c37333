// What the colours mean, in numbers.
import { useEffect, useRef } from "preact/hooks";
import { number, prepare } from "../../drawing/canvas";
import { css, diverging, sequential } from "../../drawing/colours";
import { useViewed } from "../../shell/viewed";
import type { Panel } from "./panels";

const [WIDTH, HEIGHT] = [104, 10];

export function Legend({ panel }: { panel: Panel }) {
  const { dark } = useViewed();
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
      <span>{signed ? `−${number(most)}` : "0"}</span>
      <canvas ref={ref} aria-hidden="true" />
      <span>{number(most)}</span>
      {signed && <span class="matrix-signs">{panel.signs}</span>}
    </p>
  );
}
