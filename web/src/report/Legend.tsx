// What the colours of the atlas mean: numbers from end to end, or a name for each family of roles.
import { number } from "../drawing/canvas";
import { css } from "../drawing/colours";
import type { GivenRole } from "../schema";
import { markOf } from "./families";
import { useReport } from "./shown";
import { colourOf, type Shown } from "./values";

const STEPS = 24;

export function ScaleLegend({ shown }: { shown: Shown }) {
  const { dark } = useReport();
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
      {shown.signed && <p class="faint">{shown.apart ? "Blue is more in B than in A, orange is less." : "Orange is below zero, blue above."}</p>}
    </div>
  );
}

/** The families that are here, with how many heads, and what the marks of their roles are. */
export function RoleLegend({ roles }: { roles: GivenRole[] }) {
  const { report, dark } = useReport();
  const families = report.roles.families.filter(({ name }) => roles.some((role) => role.family === name));
  return (
    <ul class="roles">
      {families.map((family) => {
        const mine = roles.filter((role) => role.family === family.name);
        const names = [...new Set(mine.map((role) => role.role))];
        const marks = names.map((name) => (markOf(report, name) === name ? name : `${markOf(report, name)} ${name}`));
        return (
          <li key={family.name} title={family.about}>
            <i class="swatch" style={{ background: dark ? family.dark : family.light }} />
            <b>{family.title}</b> {mine.length}
            {family.name !== "none" && (
              <span class="faint">
                {names.every((name) => name === family.name) ? ` ${markOf(report, family.name)}` : `: ${marks.join(", ")}`}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
