// From light to dark and back.
import type { Theme } from "../schema";

export function ThemeButton({ dark, change }: { dark: boolean; change: (changes: { theme: Theme }) => void }) {
  return (
    <button
      type="button"
      name="theme"
      class="quiet"
      title={dark ? "A light page" : "A dark page"}
      aria-pressed={dark}
      onClick={() => change({ theme: dark ? "light" : "dark" })}
    >
      {dark ? "light" : "dark"}
    </button>
  );
}
