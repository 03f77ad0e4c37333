// A correlation from -1 to 1 as a point, with its interval as a line and the ceiling as dashes.
import { numberIn, type Row } from "./records";

const [WIDTH, HEIGHT, END] = [132, 18, 7];

/** Of the columns `rho`, `rho_low` and `rho_high` of a row. */
export function Interval({ row, ceiling = null }: { row: Row; ceiling?: number | null }) {
  const [value, low, high] = ["rho", "rho_low", "rho_high"].map((column) => numberIn(row, column));
  return (
    <svg class="interval" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <line class="zero" x1={x(0)} x2={x(0)} y1={0} y2={HEIGHT} />
      {ceiling !== null && <line class="ceiling" x1={x(ceiling)} x2={x(ceiling)} y1={0} y2={HEIGHT} />}
      {value !== null && <line class="stem" x1={x(0)} x2={x(value)} y1={HEIGHT / 2} y2={HEIGHT / 2} />}
      {low !== null && high !== null && <line class="spread" x1={x(low)} x2={x(high)} y1={HEIGHT / 2} y2={HEIGHT / 2} />}
      {value !== null && <circle cx={x(value)} cy={HEIGHT / 2} r={4} />}
    </svg>
  );
}

/** What stands above a column of them. */
export function IntervalScale() {
  return (
    <svg class="interval-scale" width={WIDTH} height={14} viewBox={`0 0 ${WIDTH} 14`} aria-hidden="true">
      {[-1, 0, 1].map((tick) => (
        <text key={tick} class="tick" x={x(tick)} y={11} text-anchor="middle">
          {String(tick).replace("-", "−")}
        </text>
      ))}
    </svg>
  );
}

function x(value: number): number {
  return END + ((WIDTH - 2 * END) * (Math.min(1, Math.max(-1, value)) + 1)) / 2;
}
