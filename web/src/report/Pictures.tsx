// A head in three small pictures: what it does at the first positions of any text, how far it looks, and one text that excites it.
import { percent } from "../drawing/canvas";
import { css, sequential } from "../drawing/colours";
import type { MeanMap, Profile } from "../schema";
import { useReport } from "./shown";

const MAP = 150; // pixels

/** What each of the first positions gives to each, on average. */
export function MapPicture({ map }: { map: MeanMap }) {
  const { dark } = useReport();
  const { first, rows, hidden } = map;
  const columns = rows[0]?.length ?? 0;
  const size = MAP / Math.max(rows.length, columns, 1);
  const most = Math.max(0, ...rows.flat());
  const last = first + rows.length - 1;
  return (
    <figure class="map-picture">
      <figcaption>
        <b>Mean map</b> by position
      </figcaption>
      <svg
        viewBox={`0 0 ${columns * size} ${rows.length * size}`}
        width={columns * size}
        height={rows.length * size}
        role="img"
        aria-label={`Mean attention between the positions ${first} to ${last} of all texts, at most ${percent(most)}`}
        data-most={most}
      >
        <rect class="map-ground" width={columns * size} height={rows.length * size} />
        {rows.map((row, query) =>
          row.map((score, key) =>
            score > 0 ? (
              <rect
                key={`${query} ${key}`}
                x={key * size}
                y={query * size}
                width={size}
                height={size}
                fill={css(sequential(score / most, dark))}
                data-score={score}
              >
                <title>{`position ${query + first} looks at position ${key + first}: ${percent(score)}`}</title>
              </rect>
            ) : null,
          ),
        )}
      </svg>
      <p>
        Position {first} to {last}, ↓ looks at →, up to {percent(most)}.
        {hidden !== null && ` Position 0, its sink, has ${percent(hidden)} and is left out.`}
      </p>
    </figure>
  );
}

const [WIDTH, HEIGHT, FOOT] = [216, 150, 16];
const SAID = [0, 1, 4, 8, 32, 128]; // distances that have a number below them, where bars are narrow

/** Shares of what goes beyond sinks by distance, the token itself at 0. */
export function ProfilePicture({ profile }: { profile: Profile }) {
  const { bins, shares } = profile;
  const wide = WIDTH / bins.length;
  const most = Math.max(...shares);
  const largest = shares.indexOf(most);
  return (
    <figure class="profile-picture">
      <figcaption>
        <b>How far it looks</b>, beyond its sinks
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`Distances: most, ${percent(most)}, goes to ${distanceSaid(bins[largest])}`}
      >
        <line class="profile-axis" x1={0} x2={WIDTH} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} />
        {shares.map((share, bin) => {
          const height = most > 0 ? ((HEIGHT - FOOT - 14) * share) / most : 0;
          const x = bin * wide;
          return (
            <g key={bin} data-share={share} data-nearest={bins[bin][0]}>
              <rect class="profile-room" x={x} y={0} width={wide} height={HEIGHT - FOOT} />
              <rect class={isOne(bins[bin]) ? "profile-bar" : "profile-bar pooled"} x={x + wide * 0.12} y={HEIGHT - FOOT - height} width={wide * 0.76} height={height} />
              {bin === largest && (
                <text class="profile-most" x={clamp(x + wide / 2, 14, WIDTH - 14)} y={HEIGHT - FOOT - height - 4}>
                  {percent(share)}
                </text>
              )}
              {(wide >= 15 || SAID.includes(Math.abs(bins[bin][1] ?? bins[bin][0] ?? 0))) && (
                <text class="profile-label" x={x + wide / 2} y={HEIGHT - 4}>
                  {labelOf(bins[bin])}
                </text>
              )}
              <title>{`${distanceSaid(bins[bin])}: ${percent(share)}`}</title>
            </g>
          );
        })}
      </svg>
      <p>tokens {bins.some(([near]) => (near ?? 0) > 0) ? "before (−) and after (+)" : "before"} the one that looks; 0 is itself.</p>
    </figure>
  );
}

type Bin = (number | null)[];

function isOne([near, far]: Bin): boolean {
  return near === far;
}

/** The furthest of a bin; where that is open, the nearest. */
function labelOf([near, far]: Bin): string {
  const end = Math.abs(far ?? near ?? 0);
  return far === null ? `${end}+` : String(end);
}

/** "3 tokens before", "17 to 32 tokens after", "the token itself". */
export function distanceSaid([near, far]: Bin): string {
  const [from, to] = [Math.abs(near ?? 0), far === null ? null : Math.abs(far)];
  if (from === 0) return "the token itself";
  const tokens = to === null ? `${from} tokens or more` : from === to ? `${from} ${from === 1 ? "token" : "tokens"}` : `${from} to ${to} tokens`;
  return `${tokens} ${(near ?? 0) < 0 ? "before" : "after"}`;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
