// Tabs: one of several parts is shown; arrow keys go from one to the next.

interface Props<T extends string> {
  label: string;
  tabs: readonly (readonly [T, string])[]; // and their titles
  chosen: T;
  choose: (name: T) => void;
}

export function Tabs<T extends string>({ label, tabs, chosen, choose }: Props<T>) {
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const [next] = tabs[(tabs.findIndex(([name]) => name === chosen) + step + tabs.length) % tabs.length];
    choose(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(([name, title]) => (
        <button
          key={name}
          id={`tab-${name}`}
          role="tab"
          type="button"
          aria-selected={chosen === name}
          tabIndex={chosen === name ? 0 : -1}
          onClick={() => choose(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
