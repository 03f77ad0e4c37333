// Titles and numbers of the league as people read them.

/** The title of a choice, at the beginning of a line. */
export function titleOf(options: { name: string; title: string }[], name: string): string {
  const title = options.find((one) => one.name === name)?.title ?? name;
  return title[0].toUpperCase() + title.slice(1);
}

/** Of ρ. */
export function correlation(value: number): string {
  const written = Math.abs(value).toFixed(2);
  return value < 0 && written !== "0.00" ? `−${written}` : written;
}
