// How a reader chooses: from a list, with a slider, yes or no.
interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[]; // and their titles
  disabled?: boolean; // it keeps its place, so that what stands beside it does not move
  set: (value: T) => void;
}

export function Choice<T extends string>({ label, value, options, disabled, set }: ChoiceProps<T>) {
  return (
    <label class="choice">
      <span>{label}</span>
      <select name={label} value={value} disabled={disabled} onChange={(event) => set(event.currentTarget.value as T)}>
        {options.map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

interface SliderProps {
  name: string;
  label?: string; // the name, where there is no other
  range: [number, number];
  step: number;
  value: number;
  shown: string; // the value as text
  said?: string; // the same to those who do not see the slider
  set: (value: number) => void;
}

export function Slider({ name, label = name, range: [least, most], step, value, shown, said = shown, set }: SliderProps) {
  return (
    <label class="choice">
      <span>{label}</span>
      <input
        type="range"
        name={name}
        min={least}
        max={most}
        step={step}
        value={value}
        aria-valuetext={said}
        onInput={(event) => set(Number(event.currentTarget.value))}
      />
      <output>{shown}</output>
    </label>
  );
}

interface CheckProps {
  name: string;
  label: string;
  checked: boolean;
  set: (checked: boolean) => void;
}

export function Check({ name, label, checked, set }: CheckProps) {
  return (
    <label class="choice check">
      <input type="checkbox" name={name} checked={checked} onChange={(event) => set(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
