// One head's number among those of all heads: a line for each, and this one's on top.

interface Props {
  values: (number | null)[];
  value: number;
  other?: number | null; // the same head in the second run
}

const [WIDTH, HEIGHT] = [88, 16];
const END = 5; // pixels that a ring needs at either end

export function Strip({ values, value, other }: Props) {
  const numbers = values.filter((one): one is number => one !== null);
  const all = [...numbers, value, other ?? value]; // the second run's may lie beyond all of the first
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const x = (one: number) => END + ((WIDTH - 2 * END) * (one - least)) / (most - least || 1);
  return (
    <svg class="number-strip" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <line class="strip-axis" x1={END} x2={WIDTH - END} y1={HEIGHT / 2} y2={HEIGHT / 2} />
      <g class="strip-others" stroke-opacity={Math.min(0.35, 25 / numbers.length)}>
        {numbers.map((one, place) => (
          <line key={place} x1={x(one)} x2={x(one)} y1={4} y2={HEIGHT - 4} />
        ))}
      </g>
      {other !== null && other !== undefined && <circle class="strip-second" cx={x(other)} cy={HEIGHT / 2} r={3.5} />}
      <line class="strip-own" x1={x(value)} x2={x(value)} y1={0} y2={HEIGHT} />
    </svg>
  );
}
