// A head as a point of a plane; the one that is clicked opens its card.
import type { Head } from "../schema";

interface Props {
  head: Head;
  at: [number, number];
  radius: number;
  fill: string;
  said: string; // to those who do not see it
  chosen: boolean; // its card is open
  reachable?: boolean; // with Tab
  point: () => void;
  open: () => void;
}

export function HeadPoint({ head, at: [x, y], radius, fill, said, chosen, reachable, point, open }: Props) {
  return (
    <circle
      cx={x}
      cy={y}
      r={radius}
      fill={fill}
      class={chosen ? "point chosen" : "point"}
      data-head={head.label}
      role="button"
      tabIndex={reachable ? 0 : -1}
      aria-label={`${head.label}: ${said}`}
      onMouseEnter={point}
      onFocus={point}
      onClick={open}
      onKeyDown={(event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          open();
        }
      }}
    />
  );
}

/** The name beside a point. */
export function PointLabel({ text, at: [x, y], width }: { text: string; at: [number, number]; width: number }) {
  const left = x > width - 70;
  return (
    <text class="point-label" x={left ? x - 13 : x + 13} y={y + 4} text-anchor={left ? "end" : "start"}>
      {text}
    </text>
  );
}
