// Colours of heads and scores: on a light page those of print (src/headscope/colours.py), on a dark one lighter.
import { interpolateCividis } from "d3-scale-chromatic";
import { ABOVE, BELOW, HEADS, HEADS_DARK, SCORES } from "../schema";

export function headColour(head: number, dark: boolean): string {
  const palette = dark ? HEADS_DARK : HEADS;
  return palette[head % palette.length];
}

export type Rgb = [number, number, number];

/** Black or white, whichever is read better on a colour: by WCAG's luminance, so that neither is ever below 4.5 : 1. */
export function inkOn(colour: Rgb): string {
  const [red, green, blue] = colour.map((part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

// On a dark page cividis, which begins dark. Nothing is the background.
const ON_WHITE = ramp(SCORES.map(rgbOf));
const GROUND_DARK: Rgb = [20, 24, 29];
const ON_DARK = Array.from({ length: 256 }, (_, i) =>
  mix(GROUND_DARK, rgbOfCss(interpolateCividis(0.15 + (0.85 * i) / 255)), Math.min(1, i / 40)),
);
const ABOVE_WHITE = ramp(ABOVE.map(rgbOf));
const BELOW_WHITE = ramp(BELOW.map(rgbOf));
const ABOVE_DARK = ramp([GROUND_DARK, [28, 92, 132], [86, 180, 233], [205, 236, 255]]);
const BELOW_DARK = ramp([GROUND_DARK, [134, 66, 14], [240, 130, 50], [255, 221, 186]]);

/** 0 to 1: from the background (nothing) to full. */
export function sequential(share: number, dark = false): Rgb {
  return (dark ? ON_DARK : ON_WHITE)[Math.round(255 * Math.min(1, Math.max(0, share)))];
}

/** -1 to 1: orange for less than nothing, blue for more, the background for nothing. */
export function diverging(share: number, dark: boolean): Rgb {
  const size = Math.round(255 * Math.min(1, Math.abs(share)));
  if (share < 0) return (dark ? BELOW_DARK : BELOW_WHITE)[size];
  return (dark ? ABOVE_DARK : ABOVE_WHITE)[size];
}

/** Lines of what a difference has more of in B, and less. */
export const MORE = (dark: boolean): string => css(diverging(dark ? 0.66 : 0.72, dark));
export const LESS = (dark: boolean): string => css(diverging(dark ? -0.66 : -0.66, dark));

export function css([red, green, blue]: Rgb): string {
  return `rgb(${red}, ${green}, ${blue})`;
}

/** Of `#0072B2`. */
export function rgbOf(hex: string): Rgb {
  return [1, 3, 5].map((place) => Number.parseInt(hex.slice(place, place + 2), 16)) as Rgb;
}

function rgbOfCss(colour: string): Rgb {
  const [red, green, blue] = (colour.match(/\d+/g) ?? ["0", "0", "0"]).map(Number);
  return [red, green, blue];
}

/** 256 colours through the given ones. */
function ramp(stops: Rgb[]): Rgb[] {
  return Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (stops.length - 1);
    const stop = Math.min(Math.floor(place), stops.length - 2);
    return mix(stops[stop], stops[stop + 1], place - stop);
  });
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  return from.map((part, i) => Math.round(part + (to[i] - part) * share)) as Rgb;
}
