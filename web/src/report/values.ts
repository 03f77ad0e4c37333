// Which numbers the atlas shows: a statistic of the first run, of the second, or the difference.
import { css, diverging, type Rgb, sequential } from "../drawing/colours";
import type { Report, Statistic } from "../schema";

export interface Shown {
  title: string;
  about: string;
  values: (number | null)[]; // by head
  least: number; // the number that the lightest colour stands for
  most: number;
  signed: boolean; // orange below zero, blue above
  apart: { a: (number | null)[]; b: (number | null)[] } | null; // of a difference, B - A, what it is made of
}

export function shownOf(statistic: Statistic, run: string): Shown {
  const { other } = statistic;
  const difference = run === "difference" && other !== undefined;
  const values = difference
    ? statistic.values.map((value, i) => (value === null || other[i] === null ? null : (other[i] as number) - value))
    : run === "other" && other
      ? other
      : statistic.values;
  // Both runs are coloured alike, so that they can be looked at in turn.
  const scale = difference ? values : [...statistic.values, ...(other ?? [])];
  const numbers = scale.filter((value): value is number => value !== null);
  const size = numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const signed = difference || numbers.some((value) => value < 0);
  return {
    title: difference ? `${statistic.title}, B − A` : statistic.title,
    about: statistic.about,
    values,
    least: signed ? -size : 0,
    most: size,
    signed,
    apart: difference ? { a: statistic.values, b: other } : null,
  };
}

/** The colour of a number: from nothing (the background) to the largest. */
export function colourOf(shown: Shown, value: number, dark: boolean): Rgb {
  const share = shown.most === 0 ? 0 : value / shown.most;
  return shown.signed ? diverging(share, dark) : sequential(share, dark);
}

export function cssOf(shown: Shown, value: number | null, dark: boolean): string | undefined {
  return value === null ? undefined : css(colourOf(shown, value, dark));
}

/** 1 for the largest. */
export function rankOf(values: (number | null)[], value: number): number {
  return 1 + values.filter((one) => one !== null && one > value).length;
}

export function statisticNamed(report: Report, name: string): Statistic | undefined {
  return report.statistics.find((statistic) => statistic.name === name);
}
