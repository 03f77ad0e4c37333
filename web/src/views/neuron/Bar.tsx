// A number, and a bar as long as its part of the range of its column.

interface Props {
  name: string;
  value: number;
  text: string;
  range: [number, number]; // with 0 in it
  colour: string;
}

export function Bar({ name, value, text, range: [low, high], colour }: Props) {
  const span = high - low || 1;
  const from = (Math.min(0, value) - low) / span;
  return (
    <span class="neuron-bar" data-bar={name}>
      <span class="neuron-track">
        <i style={{ left: `${100 * from}%`, width: `${(100 * Math.abs(value)) / span}%`, background: colour }} />
      </span>
      <span class="neuron-value">{text}</span>
    </span>
  );
}

export function rangeOf(values: number[]): [number, number] {
  return values.reduce(([low, high], value): [number, number] => [Math.min(low, value), Math.max(high, value)], [0, 0]);
}
