// Families of roles: a colour and a mark each, so that nothing is told by colour alone.

interface Family {
  title: string;
  light: string;
  dark: string;
}

export const FAMILIES: Record<string, Family> = {
  position: { title: "position", light: "#0072B2", dark: "#4BA3DB" },
  syntax: { title: "syntax", light: "#D55E00", dark: "#F2803B" },
  coreference: { title: "coreference", light: "#CC79A7", dark: "#E39AC2" },
  repetition: { title: "repetition", light: "#009E73", dark: "#2FC79A" },
  punctuation: { title: "punctuation", light: "#7F7F00", dark: "#C2C24A" },
  broad: { title: "broad", light: "#56B4E9", dark: "#8AD0F5" },
  separator: { title: "separator", light: "#8C6BB1", dark: "#B79BDA" },
  sink: { title: "sink", light: "#E69F00", dark: "#F0B84A" },
  none: { title: "no role found", light: "#C9D0D6", dark: "#3B444E" },
};

export function familyColour(family: string, dark: boolean): string {
  const found = FAMILIES[family] ?? FAMILIES.none;
  return dark ? found.dark : found.light;
}

const MARKS: Record<string, string> = {
  "previous token": "←",
  "next token": "→",
  "same token": "●",
  "two tokens before": "⇇",
  "two tokens after": "⇉",
  "nearby tokens": "↔",
  punctuation: ". ,",
  broad: "≋",
  separator: "sep",
  sink: "1st",
  "second sink": "2nd",
  coreference: "coref",
  induction: "ind",
  "duplicate token": "dup",
  "no role found": "–",
};

/** A role in a few characters; a relation is its own name. */
export function markOf(role: string): string {
  return MARKS[role] ?? role;
}
