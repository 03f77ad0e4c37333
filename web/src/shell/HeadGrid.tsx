// Heads as a grid, layers by heads, each a square: the report's atlas and a logit's are such.
import type { ComponentChildren } from "preact";
import { useWidth } from "./hooks";

const LABELS = 38; // pixels beside the squares

interface Props {
  label: string;
  widest: number; // heads of the layer that has most
  size: "small" | "middle" | "large";
  texts: number; // pixels: a narrower square has no text in it
  by?: string;
  numbered?: boolean; // whether a square stands below its head's number
  leave?: () => void;
  children: ComponentChildren; // a HeadRow a layer
}

export function HeadGrid({ label, widest, size, texts, by, numbered = true, leave, children }: Props) {
  const [grid, width] = useWidth<HTMLDivElement>();
  const wide = (width - LABELS) / widest; // a square
  const every = Math.max(1, Math.ceil(18 / Math.max(wide, 1))); // of the heads' numbers is written above them
  return (
    <div
      class="atlas-grid"
      ref={grid}
      role="grid"
      aria-label={label}
      style={{ gridTemplateColumns: `auto repeat(${widest}, minmax(0, 1fr))` }}
      data-size={size}
      data-by={by}
      data-texts={width > 0 && wide < texts ? "no" : "yes"}
      onMouseLeave={leave}
      onKeyDown={(event) => moveFocus(event)}
    >
      <div role="row" class="atlas-row">
        <span class="atlas-corner" role="columnheader">
          layer
        </span>
        {Array.from({ length: widest }, (_, place) => (
          <span key={place} class="atlas-head" role="columnheader">
            {!numbered || place % every ? <span class="visually-hidden">{place}</span> : place}
          </span>
        ))}
      </div>
      {children}
    </div>
  );
}

export function HeadRow({ layer, children }: { layer: number; children: ComponentChildren }) {
  return (
    <div role="row" class="atlas-row">
      <span class="atlas-layer" role="rowheader">
        {layer}
      </span>
      {children}
    </div>
  );
}

/** Arrow keys go from head to head; one of them is reached with Tab. */
function moveFocus(event: KeyboardEvent): void {
  const steps: Record<string, [number, number]> = {
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
  };
  const step = steps[event.key];
  const square = (event.target as HTMLElement).closest<HTMLElement>(".square");
  if (!step || !square) return;
  event.preventDefault();
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll(".atlas-row")].slice(1);
  const row = rows.indexOf(square.parentElement as Element);
  const place = Number(square.dataset.place);
  rows[row + step[0]]?.querySelector<HTMLElement>(`[data-place="${place + step[1]}"]`)?.focus();
}

/** A number that fits into a square; where all are small, with one digit more. */
export function brief(value: number, largest: number): string {
  const size = Math.abs(value);
  const digits = largest < 0.1 ? 3 : 2;
  if (size < 0.5 / 10 ** digits) return size === 0 ? "0" : `.${"0".repeat(digits)}`;
  const text = size < 1 - 0.5 / 10 ** digits ? size.toFixed(digits).slice(1) : size < 9.95 ? size.toFixed(1) : size.toFixed(0);
  return value < 0 ? `−${text}` : text;
}
