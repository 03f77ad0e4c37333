// The frame of a drawing: two axes with their ticks and titles, and room for what is drawn between them.
import type { ComponentChildren } from "preact";
import type { Scale } from "../drawing/scale";
import { useWidth } from "../shell/hooks";

const ROOM = { left: 52, right: 14, top: 12, bottom: 40 };
const LEAST = 250;
const MOST = 380;

export interface Frame {
  x: (value: number) => number; // pixels
  y: (value: number) => number;
  width: number;
}

interface Props {
  label: string; // to those who do not see it
  across: Scale;
  upward: Scale;
  titles: [string, string];
  leave?: () => void;
  children: (frame: Frame) => ComponentChildren;
}

export function Axes({ label, across, upward, titles: [below, beside], leave, children }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const height = Math.min(MOST, Math.max(LEAST, width * 0.62));
  const [left, right] = [ROOM.left, Math.max(ROOM.left + 1, width - ROOM.right)];
  const [top, bottom] = [ROOM.top, height - ROOM.bottom];
  const x = (value: number) => left + (right - left) * across.place(value);
  const y = (value: number) => bottom - (bottom - top) * upward.place(value);
  return (
    <div ref={ref} class="scatter-plane axes">
      <svg width={width} height={height} role="group" aria-label={label} onMouseLeave={leave}>
        <g aria-hidden="true">
          {across.ticks.map((tick) => (
            <g key={tick}>
              <line class="grid" x1={x(tick)} x2={x(tick)} y1={top} y2={bottom} />
              <text class="tick" x={x(tick)} y={bottom + 15} text-anchor="middle">
                {across.written(tick)}
              </text>
            </g>
          ))}
          {upward.ticks.map((tick) => (
            <g key={tick}>
              <line class="grid" x1={left} x2={right} y1={y(tick)} y2={y(tick)} />
              <text class="tick" x={left - 6} y={y(tick) + 4} text-anchor="end">
                {upward.written(tick)}
              </text>
            </g>
          ))}
          <text class="axis-title" x={(left + right) / 2} y={height - 7} text-anchor="middle">
            {below}
          </text>
          <text class="axis-title" text-anchor="middle" transform={`translate(12 ${(top + bottom) / 2}) rotate(-90)`}>
            {beside}
          </text>
        </g>
        {width > 0 && children({ x, y, width })}
      </svg>
    </div>
  );
}
