// Families of roles: a colour and a mark each, so that nothing is told by colour alone.

interface Family {
  title: string;
  about: string;
  light: string;
  dark: string;
}

export const FAMILIES: Record<string, Family> = {
  position: {
    title: "position",
    about: "Most of it goes to one place beside the token, or to its nearest neighbours.",
    light: "#0072B2",
    dark: "#4BA3DB",
  },
  syntax: {
    title: "syntax",
    about: "A word looks most at the word that it belongs to in the grammar.",
    light: "#D55E00",
    dark: "#F2803B",
  },
  coreference: {
    title: "coreference",
    about: "A mention looks most at who or what was meant before.",
    light: "#CC79A7",
    dark: "#E39AC2",
  },
  repetition: {
    title: "repetition",
    about: "On random tokens that come twice, it looks for the earlier copy, or for what followed it.",
    light: "#009E73",
    dark: "#2FC79A",
  },
  punctuation: {
    title: "punctuation",
    about: "Most of it goes to periods and commas.",
    light: "#7F7F00",
    dark: "#C2C24A",
  },
  broad: {
    title: "broad",
    about: "It goes almost evenly to all tokens.",
    light: "#56B4E9",
    dark: "#8AD0F5",
  },
  separator: {
    title: "separator",
    about: "Most attention is parked on separators, such as [SEP].",
    light: "#8C6BB1",
    dark: "#B79BDA",
  },
  sink: {
    title: "sink",
    about: "Most attention is parked on the first token, or on one other token of each text.",
    light: "#E69F00",
    dark: "#F0B84A",
  },
  none: {
    title: "no role found",
    about: "No rule holds in what this run has counted.",
    light: "#C9D0D6",
    dark: "#3B444E",
  },
};

/** How roles are given, for whoever meets them for the first time. */
export const ABOUT_ROLES =
  "A head that has nothing to do parks its attention on the first token or a separator. A role says what it does with the rest.";

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
