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

export type Rgb = [number, number, number];

const CIVIDIS: Rgb[] = Array.from({ length: 256 }, (_, i) => rgbOf(interpolateCividis(i / 255)));
const BLUE: Rgb = [0, 90, 180];
const RED: Rgb = [213, 94, 0];

/** 0 to 1: from the background (nothing) to full; sequential. */
export function sequential(share: number): Rgb {
  return CIVIDIS[Math.round(255 * Math.min(1, Math.max(0, share)))];
}

/** -1 to 1: blue for less than nothing, orange for more, the background for nothing. */
export function diverging(share: number, dark: boolean): Rgb {
  const size = Math.min(1, Math.abs(share));
  const end = share < 0 ? (dark ? ([86, 180, 233] as Rgb) : BLUE) : dark ? ([255, 150, 70] as Rgb) : RED;
  const ground: Rgb = dark ? [28, 33, 40] : [255, 255, 255];
  return ground.map((from, i) => Math.round(from + (end[i] - from) * size)) as Rgb;
}

export function css([red, green, blue]: Rgb): string {
  return `rgb(${red}, ${green}, ${blue})`;
}

function rgbOf(colour: string): Rgb {
  const [red, green, blue] = (colour.match(/\d+/g) ?? ["0", "0", "0"]).map(Number);
  return [red, green, blue];
}
