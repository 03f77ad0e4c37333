// What the colours of the atlas mean: numbers from end to end, or a name for each family of roles.
import { number } from "../drawing/canvas";
import { css } from "../drawing/colours";
import type { Role } from "./data";
import { FAMILIES, familyColour, markOf } from "./families";
import { type Shown, colourOf } from "./values";

const STEPS = 24;

export function ScaleLegend({ shown, dark }: { shown: Shown; dark: boolean }) {
  if (shown.most === 0) return <p class="scale">All numbers here are 0.</p>;
  const { least, most } = shown;
  const middle = (least + most) / 2;
  return (
    <div class="scale" data-least={least} data-most={most}>
      <div class="scale-bar" aria-hidden="true">
        {Array.from({ length: STEPS }, (_, step) => (
          <i key={step} style={{ background: css(colourOf(shown, least + ((most - least) * step) / (STEPS - 1), dark)) }} />
        ))}
      </div>
      <div class="scale-numbers">
        <span>{number(least)}</span>
        <span>{number(middle)}</span>
        <span>{number(most)}</span>
      </div>
      {shown.signed && <p class="faint">Orange is below zero, blue above.</p>}
    </div>
  );
}

/** The families that are here, with how many heads, and what the marks of their roles are. */
export function RoleLegend({ roles, dark }: { roles: Role[]; dark: boolean }) {
  const families = Object.keys(FAMILIES).filter((family) => roles.some((role) => role.family === family));
  return (
    <ul class="roles">
      {families.map((family) => {
        const mine = roles.filter((role) => role.family === family);
        const names = [...new Set(mine.map((role) => role.role))];
        return (
          <li key={family} title={FAMILIES[family].about}>
            <i class="swatch" style={{ background: familyColour(family, dark) }} />
            <b>{FAMILIES[family].title}</b> {mine.length}
            {family !== "none" && names.some((name) => name !== family) && (
              <span class="faint">: {names.map((name) => (markOf(name) === name ? name : `${markOf(name)} ${name}`)).join(", ")}</span>
            )}
            {family !== "none" && names.every((name) => name === family) && <span class="faint"> {markOf(names[0])}</span>}
          </li>
        );
      })}
    </ul>
  );
}
