// Made from Python by web/make_schema.py: change the types there, and run make web.

export const HEADS = ["#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#8C6BB1", "#7F7F00", "#00429D", "#A23B00", "#00664A", "#A87400", "#93537A", "#2B83BA", "#5E3C99", "#595900"];

export const HEADS_DARK = ["#4BA3DB", "#F2803B", "#2FC79A", "#F0B84A", "#E39AC2", "#8AD0F5", "#B79BDA", "#C2C24A", "#7C9BFF", "#E0703A", "#4FB795", "#D9A441", "#C98AB0", "#6FB7E3", "#9C7FD1", "#A3A33F"];

export const SCORES = ["#FFFFFF", "#BFD9EB", "#5FA4D0", "#0072B2", "#00283F"];

export const BELOW = ["#FFFFFF", "#F7B27F", "#D55E00", "#6B2E00"];

export const ABOVE = ["#FFFFFF", "#7FB8DC", "#0072B2", "#00283F"];

export const View = ["head", "model", "neuron", "matrix"] as const;
export type View = (typeof View)[number];

export const Change = ["", "exchanged", "left out", "put in"] as const;
export type Change = (typeof Change)[number];

export type Encoded = Levels | Floats | Product | Same | Difference;

export type Vectors = VectorLevels | Floats;

export const Level = ["token", "word"] as const;
export type Level = (typeof Level)[number];

export const Of = ["", "a", "b"] as const;
export type Of = (typeof Of)[number];

export const Pairs = ["all", "aa", "ab", "ba", "bb"] as const;
export type Pairs = (typeof Pairs)[number];

export const Sinks = ["", "shown", "hidden", "renormalised"] as const;
export type Sinks = (typeof Sinks)[number];

export const Scale = ["linear", "row", "log"] as const;
export type Scale = (typeof Scale)[number];

export const Small = ["", "lines", "maps"] as const;
export type Small = (typeof Small)[number];

export const Theme = ["", "light", "dark"] as const;
export type Theme = (typeof Theme)[number];

export type Cell = string | number | boolean | null;

export const Mark = ["attending", "attended", "both"] as const;
export type Mark = (typeof Mark)[number];

export const Task = ["next", "masked", "target"] as const;
export type Task = (typeof Task)[number];

export const Stack = ["encoder", "decoder"] as const;
export type Stack = (typeof Stack)[number];

export const Kind = ["self", "cross"] as const;
export type Kind = (typeof Kind)[number];

export const Instead = ["zero", "mean"] as const;
export type Instead = (typeof Instead)[number];

/** Where an array is: in which chunk, from which byte on (little-endian), of which type and shape. */
export interface Place {
  chunk: number;
  offset: number;
  type: "f4" | "u1" | "i1";
  shape: number[];
}

/** Scores (head, query, key) as bytes: (at - zeros) * steps, with a zero a head and a step a head, or a head and key. */
export interface Levels {
  form: "levels";
  at: Place;
  steps: Place;
  zeros: Place;
}

/** Scores, or vectors, as floats. */
export interface Floats {
  form: "floats";
  at: Place;
}

/** Scores that are those of another measure, times a number for each head and key. */
export interface Product {
  form: "product";
  of: string;
  factor: Place;
}

/** Scores that are those of another measure. */
export interface Same {
  form: "same";
  of: string;
}

/** Scores of B less those of A, which are the attention's parts. */
export interface Difference {
  form: "difference";
}

/** Vectors (head or group, token, d_head) as signed bytes: at * steps, with a step a head. */
export interface VectorLevels {
  form: "levels";
  at: Place;
  steps: Place;
}

/** Queries and keys of one attention: softmax(scaling * q.k) over the visible keys is the weight, where `exact`. */
export interface Neurons {
  queries: Vectors;
  keys: Vectors; // fewer than heads where heads share them
  scaling: number;
  exact: boolean;
  why: string; // where it is not: what stands between
}

/** One of the two that a difference is made of: its scores (head, query, key) between its own tokens. */
export interface Part {
  scores: Record<string, Encoded>; // by measure
  value_norm: Place | null;
}

/** One attention: where its scores (head, query, key) and norms (head, key) are. */
export interface Attention {
  stack: string; // "encoder" | "decoder"
  kind: string; // "self" | "cross"
  layer: number;
  heads: number[]; // the model's own numbers
  query: string; // which of the sides attends
  key: string; // which of the sides is attended to
  scores: Record<string, Encoded>; // by measure
  value_norm: Place | null;
  neurons: Neurons | null;
  parts: Part[] | null; // of a difference: A and B
}

/** One of two texts, token by token of what both have together; null and empty where it has none. */
export interface Origin {
  places: (number | null)[]; // among the text's own tokens
  tokens: string[];
  words: string[];
}

/** Where the tokens of two texts come from that stand on one axis, and what became of each token and word. */
export interface Joint {
  a: Origin;
  b: Origin;
  tokens: Change[];
  words: Change[];
}

/** The tokens of one text: as people read them, and `raw` as the tokenizer writes them. */
export interface Side {
  tokens: string[];
  raw: string[];
  special: boolean[];
  words: string[];
  word_of: number[]; // which of the words each token belongs to
  segments: number[]; // 1 for the second text of a pair
  joint: Joint | null; // where these are the tokens of two texts together
}

/** A measure that scores are in. */
export interface Measure {
  name: string;
  title: string;
  about: string;
  joint: boolean; // one map for all heads together
  signed: boolean;
}

/** What one head does in this text, by its weights. */
export interface TellingHead {
  layer: number;
  head: number;
  role: string; // by this text alone; empty where none holds
  share: number; // of what goes beyond sinks, that goes to the place of the role
  focus: number; // what its rows give to one token beyond sinks, on average: of all that they give
  query: number; // its strongest link beyond sinks
  key: number;
  weight: number;
}

/** A number for every head, out of a run; by `encoder self 3.1`. */
export interface HeadStatistic {
  name: string;
  title: string;
  about: string;
  values: Record<string, number>;
}

/** One of two that are compared: the beginning of its text, and who has read it. */
export interface ReadText {
  title: string;
  model: string;
}

/** What a difference is made of: B less A. */
export interface Compared {
  a: ReadText;
  b: ReadText;
  notes: string[]; // what only one of the two has
}

/** The views of one text, or of the difference of two. */
export interface Content {
  format: number;
  title: string;
  model: string; // what people call the model that has read it; empty where nobody knows
  sides: Record<string, Side>;
  sinks: Record<string, boolean[]>; // by `encoder self`: which tokens of the side that is attended to are sinks
  telling: Record<string, TellingHead[]>; // by `encoder self`: the heads that say most about the text, best first
  roles: Record<string, string>; // by `encoder self 3.1`, where a run has told them
  attentions: Attention[];
  measures: Measure[];
  statistics: HeadStatistic[];
  error: number; // the largest of all scores, as a part of the largest score of its head
  exact: boolean;
  compared: Compared | null; // where the scores are differences
}

/** What all parts of one kind bring: heads, MLPs, biases. */
export interface LogitSum {
  name: string;
  part: number;
}

/** The heads of one kind of attention, and the part of each, by the token that it looks at. */
export interface LogitGroup {
  name: string; // "decoder self"
  layers: number[];
  parts: number[][][]; // layer, head, token
  tokens: string[];
}

/** A logit, or the difference of two, and what it is the sum of. */
export interface LogitParts {
  total: number;
  remainder: number;
  at: string; // the token whose logit it is
  position: number;
  sums: LogitSum[];
  groups: LogitGroup[];
}

/** What the page of a view carries. */
export interface ViewPage extends Content {
  kind: "view";
  state: string; // what it opens with, as the fragment of an address
  logits?: LogitParts; // above the views, which show its parts at every position
}

/** What the live page carries: hardly more than its name. Everything else is asked of the server that it came from. */
export interface LivePage {
  kind: "live";
  title: string;
  version: string;
  run: boolean; // whether the server has a run to show
}

/** Every choice that a reader of a page can make. The defaults are what a page opens with. */
export interface State {
  view: View;
  attention: string; // "encoder self", "decoder cross", ...; empty: cross attention where it is, else the first
  layer: number | null; // none: where the heads are that say most about the text
  heads: number[] | null; // the model's own numbers; none: all, without a layer those that say most
  measure: string;
  level: Level;
  pairs: Pairs;
  least: number; // scores below this part of the largest are not drawn
  top: number; // only so many scores of each token that attends; 0: all
  sinks: Sinks; // hidden: what is left by itself, or each row of it to a sum of 1; the share that is hidden is said
  keep: string[]; // tokens that stay chosen: "q3" attends, "k5" is attended to
  compare: string; // the matrix: a second measure beside the first, and their difference
  of: Of; // of a difference: B less A, A alone, or B alone
  scale: Scale; // the matrix: what the darkest colour stands for
  small: Small; // the model view: heads as lines or as maps
  sort: string; // the model view: a statistic to sort heads by
  above: number | null; // the model view: only heads whose statistic is at least this
  theme: Theme; // empty: as the system is set
}

/** One line about what was run. */
export interface Fact {
  name: string;
  value: string;
}

/** A run by its folder's name. */
export interface DescribedRun {
  name: string;
  facts: Fact[];
}

/** A number of a sentence, and where it stands. */
export interface Number {
  value: number;
  table: string;
  column: string; // or an expression of columns
  of: string; // the one "cell", or the "mean", "median" or "count" of the rows
  where: Record<string, unknown>; // picks the rows
  run?: string; // "a" or "b", where two runs are compared
}

/** Something that a run's tables say, as a sentence. */
export interface Finding {
  text: string;
  heads: string[]; // labels
  table: string;
  numbers: Number[];
}

/** Some words of a text, and what is marked in them. */
export interface Marked {
  text: string;
  mark: Mark | null;
  sign?: boolean; // it is no part of the text: it says that something is left out, or that there is a space
}

/** A text that excites a head, by its strongest pair of tokens: who looks, and at what. Plain text, never HTML. */
export interface Exemplar {
  score: number;
  attending: string;
  attended: string;
  runs: Marked[];
  attended_runs: Marked[]; // of the source, where that is another text; the target is in `runs` then
  source: string; // where the text comes from: a name of its own, or a file and line
}

/** What a head does. */
export interface GivenRole {
  role: string;
  family: string;
  rule: string;
}

/** The role that a head without one comes nearest to. */
export interface NearestMiss {
  role: string;
  score: number;
  needed: number;
  says: string; // "34% previous token; 50% would name it"
}

/** Shares on the first token and separators together. */
export interface Special {
  weight: number | null;
  norm: number | null;
}

/** The relation that a head knows best. */
export interface Relation {
  name: string;
  direction: string;
  accuracy: number;
  baseline: number | null;
  cases: number;
}

/** How often a mention looks most at its antecedent. */
export interface Antecedents {
  accuracy: number;
  cases: number;
  baseline: number | null;
}

/** What becomes of the model without a head. */
export interface HeadEffect {
  says: string[]; // sentences
  confirmed: boolean | null; // whether it does what its role says; None where that was not tried
}

/** A token, and what a head adds to its logit beyond what it adds to all tokens. */
export interface Written {
  token: string;
  logit: number;
}

/** What a head writes at the token that looks, in the exemplar that is drawn. */
export interface HeadWrites {
  at: string;
  more: Written[]; // the likeliest first
  less: Written[]; // the least likely first
}

/** What a head gives from each of the first positions to each, on average over all texts. */
export interface MeanMap {
  first: number; // the position that the first row and column stand for: those before it are sinks
  rows: number[][]; // of a position that attends, to each that is attended to
  hidden: number | null; // the part of these rows' attention that is on positions before the first
}

/** How far a head looks: shares of what goes beyond its sinks, by distance. */
export interface Profile {
  bins: ((number | null)[])[]; // nearest and furthest, negative before the token; no furthest: all that is further
  shares: number[];
}

/** A text that excites a head, as a view of this head alone. */
export interface DrawnExemplar {
  content: Content;
  chunks: string[]; // of the content
  rank: number; // among the head's exemplars, from 1: those before it are about sinks
  keep: string[]; // the two tokens of the pair, as a view keeps them
  left_out: number; // tokens of a long text, far from the pair
}

/** What a card draws; None for what the run has not counted. */
export interface Picture {
  map: MeanMap | null;
  profile: Profile | null;
  exemplar: DrawnExemplar | null;
}

/** A head, with all that its card says; its numbers are in the statistics. */
export interface Head extends GivenRole {
  name: string; // "encoder self 3.1"
  label: string; // "3.1", or "cross 3.1" where there are several kinds
  stack: string;
  kind: string;
  layer: number;
  head: number;
  group: string; // "encoder self"
  score: number | null;
  baseline: number | null;
  also: string[];
  nearest: NearestMiss | null; // of a head without a role
  says: string;
  special: Special;
  relation: Relation | null;
  antecedents: Antecedents | null;
  without: HeadEffect | null; // where it was taken out
  writes: HeadWrites | null; // of a model that predicts words
  exemplars: Exemplar[];
  picture: Picture | null; // None: there is none, or it is in a chunk of the page
  picture_chunk?: number; // which has those of a layer's heads by name
  other?: GivenRole | null; // in the second run
}

/** Roles of one kind, and their colour on light and dark pages. */
export interface Family {
  name: string;
  title: string;
  about: string;
  light: string;
  dark: string;
}

/** What a page must know to show roles. */
export interface Roles {
  about: string;
  families: Family[]; // in the order in which they are listed
  marks: Record<string, string>; // a role in a few characters; one that has none is its own name
}

/** A number of every head. */
export interface Statistic {
  name: string; // "entropy.entropy": table and column
  table: string;
  title: string;
  about: string;
  more: string; // what a larger number means
  unit: string;
  card: boolean; // whether it stands on the cards
  values: (number | null)[]; // by head
  other?: (number | null)[]; // of the second run
}

/** Another head, and how far it is. */
export interface Near {
  head: number;
  distance: number;
}

/** Heads of one kind as points in a plane. */
export interface Scatter {
  group: string;
  heads: number[];
  x: number[];
  y: number[];
  stress: number;
  nearest: Near[][];
}

/** A column of a table, explained. */
export interface Column {
  name: string;
  title: string;
  about: string;
  numeric: boolean;
}

/** A table, or the first rows of a long one. */
export interface Table {
  name: string;
  title: string;
  about: string;
  columns: Column[];
  rows: Cell[][] | null; // None: in a chunk of the page
  chunk?: number;
  total: number;
  compared: boolean;
}

/** A figure as text. */
export interface Figure {
  name: string;
  title: string;
  svg: string | null; // None: in a chunk of the page
  chunk?: number;
}

/** What can be chosen in the league's part: an effect, or what takes a head's place. */
export interface LeagueOption {
  name: string;
  title: string;
}

/** A number that is said of heads. */
export interface LeagueNumber extends LeagueOption {
  idle: string; // "low" or "high": the end at which heads should be idle
}

/** What was found in one model. */
export interface LeagueSaid {
  model: string;
  sentences: string[];
}

/** Which number of a head predicts what happens without it: the tables `league...` of the run have all else. */
export interface League {
  ways: LeagueOption[];
  effects: LeagueOption[];
  numbers: LeagueNumber[];
  way: string; // of the curves, and what the part opens with
  effect: string;
  said: LeagueSaid[];
}

/** All that a report shows. */
export interface Report {
  format: number;
  title: string;
  runs: DescribedRun[];
  findings: Finding[];
  compared: Finding[]; // what differs between two runs
  heads: Head[];
  roles: Roles;
  statistics: Statistic[];
  scatters: Scatter[];
  tables: Table[];
  figures: Figure[];
  league: League | null;
  left_out: string[]; // each a sentence: what, and why
  state: string; // what the page opens with, as the fragment of an address
}

/** What the page of a report carries. */
export interface ReportPage extends Report {
  kind: "report";
}

/** A token that may fill a gap. */
export interface Guess {
  token: string; // as people read it
  probability: number;
  reads: string; // the text (or pair) with this token in it, to be read next; empty where the token is no text
  without: number | null; // its probability without the heads that are taken out
}

/** A gap that the model fills: behind a text, or where a token is masked. */
export interface Gap {
  segment: "text" | "pair";
  position: number; // among the tokens that the model reads; behind the last, for the next one
  guesses: Guess[]; // the likeliest first; with heads taken out, behind them those that are likely only then
  kl: number | null; // KL(p || p without the heads that are taken out), in nats
}

/** What becomes of it all where some heads are taken out; the guesses have their own probabilities without them. */
export interface Without {
  heads: string[]; // `decoder self 17.3`
  how: string; // what takes their place
  loss: number | null;
  written: string;
  complete: boolean;
  similarity: number | null;
  moved: number | null; // of an encoder that compares texts: 1 - cosine of the text's vector and what it was
}

/** What a model makes of a text beside its attention. */
export interface Predicted {
  task: Task | null; // what its head was trained for; None where it predicts no words
  gaps: Gap[];
  left_out: number; // masks that were not looked at: there are too many
  written: string; // the text that it makes of this one (a translation), for encoder-decoders
  complete: boolean; // whether it came to an end of its own, within the time and length that it has
  similarity: number | null; // of two texts: the cosine of their mean vectors
  loss: number | null; // nats a token, of each token of the text from those before it, for decoders
  without: Without | null; // the same without some heads, where they are taken out
  says: string; // a sentence, where there is nothing to predict
}

/** What is wrong, where, and what to do. */
export interface Failure {
  error: string; // One sentence for the person who asked.
}

/** A measure that this model can be read by. */
export interface MeasureInfo extends Measure {
  usual: boolean; // comes with every answer that is not asked for others
}

/** The attentions of one stack and kind: `encoder self`, `decoder self`, `decoder cross`. */
export interface AttentionInfo {
  stack: Stack;
  kind: Kind;
  layers: number[]; // The layers that have this attention, by the model's own numbers from 0.
  heads: number[]; // How many heads each of these layers has.
}

/** A model that was named when the server was started. No other can be asked for. */
export interface ModelInfo {
  name: string;
  architecture: string;
  layers: number; // How many layers with attention it has, in all stacks: one, where it has both kinds.
  heads: number; // How many heads it has in all of them.
  attentions: AttentionInfo[]; // In the order in which the model runs them.
  encoder_decoder: boolean; // Whether it takes a target; without one, only its encoder runs.
  max_tokens: number; // How many tokens a text of a request may have: the model's limit, or the server's.
  measures: MeasureInfo[];
  predicts: Task | null; // The next token, masked ones, or a target: a text of its own (a translation); null for no words at all.
  mask: string | null; // What is written in the place of a word that is to be guessed.
  compares: boolean; // Whether it says how alike two texts are.
  means: boolean; // Whether the means of its heads are known, to take their places.
}

/** A text for one model. */
export interface TextRequest {
  model: string; // A name from /api/models.
  text: string; // The text; the source, for an encoder-decoder.
  pair?: string | null; // A second text, for models that read pairs.
  target?: string | null; // A translation, for encoder-decoders.
  truncate?: boolean; // Cut a text off at the limit instead of refusing it.
  without?: string[]; // Heads that are taken out: `17.3`, `decoder cross 5.3`, or `17` for a whole layer.
  how?: Instead; // What takes their place: nothing, or their means, where these are known.
}

/** A text whose attention is to be read. */
export interface ReadRequest extends TextRequest {
  measures?: string[] | null; // Measures of /api/models that are wanted; without this: weight, norm and joint_norm.
  neurons?: boolean; // Also queries and keys, for the neuron view.
  layers?: number[] | null; // Only these layers, of every stack and kind.
  exact?: boolean; // Floats of four bytes instead of bytes.
}

/** A text from which the model is to predict. */
export interface PredictRequest extends TextRequest {
  beside?: string | null; // Another text: a model that compares texts says how alike the two are.
}

/** Two readings of which one is taken from the other: B less A, for every head that both have. */
export interface DifferenceRequest {
  a: ReadRequest;
  b: ReadRequest;
}

/** What the views draw. */
export interface ReadAnswer {
  description: Content;
  chunks: string[]; // Bytes: compressed by zlib, in base64.
}

/** The model that was studied. */
export interface RunModel {
  name: string;
  architecture: string;
  served: string | null; // The name of the same model among /api/models, where it is served.
}

/** The corpus that was counted: names of files, never where they are. */
export interface RunCorpus {
  files: string[];
  format: string | null;
  documents: number;
}

/** What the run is, and its numbers for every head. */
export interface RunAnswer {
  name: string;
  paper: string | null;
  finished: boolean;
  model: RunModel;
  corpora: RunCorpus[];
  counts: Record<string, number>;
  versions: Record<string, string>;
  tables: string[];
  statistics: HeadStatistic[];
}

/** What to read to see an exemplar's pair, and the tokens to keep: `q7` attends, `k2` is attended to. */
export interface ExcitedText {
  text: string;
  target: string; // empty where there is none
  keep: string[];
}

/** An exemplar that can be opened, where the run's model is served, and the text is not too long for it. */
export interface ServedExemplar extends Exemplar {
  opens: ExcitedText | null;
}

/** The texts of the run's corpus that excite one head most, the strongest first, without near-duplicates. */
export interface ExemplarsAnswer {
  stack: Stack;
  kind: Kind;
  layer: number;
  head: number;
  measure: string;
  computed: boolean; // Found now, among some of the corpus's texts; else the run counted them over all.
  documents: number; // How many texts were looked at.
  exemplars: ServedExemplar[];
}

export const USUAL: State = {"view": "head", "attention": "", "layer": null, "heads": null, "measure": "weight", "level": "token", "pairs": "all", "least": 0.0, "top": 0, "sinks": "", "keep": [], "compare": "", "of": "", "scale": "linear", "small": "", "sort": "", "above": null, "theme": ""};
