// A canvas at the resolution of the screen.
import { zoomOf } from "../shell/zoom";

/** Give the canvas its size in CSS pixels, sharp on every screen (`ratio` pixels each), and return what draws on it. */
export function prepare(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio = (window.devicePixelRatio || 1) * zoomOf(canvas),
): CanvasRenderingContext2D {
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0); // a new size has cleared it; on paper, clearing it again would be white paint
  return context;
}

/** A number as people read it: 0.123, 12.3, 0.0012. */
export function number(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 0.001) return String(Number(value.toPrecision(3)));
  return value.toExponential(1);
}

/** A difference as people read it: +0.123, −0.12. */
export function signed(value: number): string {
  return value > 0 ? `+${number(value)}` : number(value).replace("-", "−");
}

export function percent(share: number): string {
  return share > 0 && share < 0.0995 ? `${(100 * share).toFixed(1)}%` : `${Math.round(100 * share)}%`;
}
