// Colours that every kind of colour vision can tell apart.
import { interpolateCividis } from "d3-scale-chromatic";

// Okabe and Ito's palette first, then lighter and darker neighbours for models with many heads.
const HEADS = [
  "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#7F7F00",
  "#00429D", "#A23B00", "#00664A", "#93537A", "#A87400", "#2B83BA", "#5E3C99", "#595900",
];
const HEADS_DARK = [
  "#4BA3DB", "#F2803B", "#2FC79A", "#E39AC2", "#F0B84A", "#8AD0F5", "#B79BDA", "#C2C24A",
  "#7C9BFF", "#E0703A", "#4FB795", "#C98AB0", "#D9A441", "#6FB7E3", "#9C7FD1", "#A3A33F",
];

export function headColour(head: number, dark: boolean): string {
  const palette = dark ? HEADS_DARK : HEADS;
  return palette[head % palette.length];
}

/** What can be read on a colour: white, or nearly black where white would be too pale on it. */
export function onColour(colour: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => (Number.parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.24 ? "#10151b" : "#ffffff";
}

export type Rgb = [number, number, number];

// White paper as in print (views/print/colours.py); on a dark page cividis, which begins dark. Nothing is the background.
const ON_WHITE: Rgb[] = ramp([[255, 255, 255], [191, 217, 235], [95, 164, 208], [0, 114, 178], [0, 40, 63]]);
const GROUND_DARK: Rgb = [20, 24, 29];
const ON_DARK: Rgb[] = Array.from({ length: 256 }, (_, i) =>
  mix(GROUND_DARK, rgbOf(interpolateCividis(0.15 + (0.85 * i) / 255)), Math.min(1, i / 40)),
);
// Above and below zero as in vig2019, figure 3: blue and orange.
const ABOVE = ramp([[255, 255, 255], [127, 184, 220], [0, 114, 178], [0, 40, 63]]);
const BELOW = ramp([[255, 255, 255], [247, 178, 127], [213, 94, 0], [107, 46, 0]]);
const ABOVE_DARK = ramp([GROUND_DARK, [28, 92, 132], [86, 180, 233], [205, 236, 255]]);
const BELOW_DARK = ramp([GROUND_DARK, [134, 66, 14], [240, 130, 50], [255, 221, 186]]);

/** 0 to 1: from the background (nothing) to full. */
export function sequential(share: number, dark = false): Rgb {
  return (dark ? ON_DARK : ON_WHITE)[Math.round(255 * Math.min(1, Math.max(0, share)))];
}

/** -1 to 1: orange for less than nothing, blue for more, the background for nothing. */
export function diverging(share: number, dark: boolean): Rgb {
  const size = Math.round(255 * Math.min(1, Math.abs(share)));
  if (share < 0) return (dark ? BELOW_DARK : BELOW)[size];
  return (dark ? ABOVE_DARK : ABOVE)[size];
}

export function css([red, green, blue]: Rgb): string {
  return `rgb(${red}, ${green}, ${blue})`;
}

function rgbOf(colour: string): Rgb {
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
