// The server's HTTP interface, typed: all that the live page asks of it (src/headscope/server/schemas.py).
import type { Content, HeadStatistic, Measure } from "../data/page";
import type { Report } from "../report/data";

export interface Model {
  name: string;
  architecture: string;
  layers: number;
  heads: number;
  attentions: { stack: string; kind: string; layers: number[]; heads: number[] }[];
  encoder_decoder: boolean;
  limit: number; // tokens of one text
  measures: Omit<Measure, "signed">[];
}

export interface ReadRequest {
  model: string;
  text: string;
  pair?: string;
  target?: string;
  measures?: string[];
  neurons?: boolean;
  truncate?: boolean;
}

export interface ReadAnswer {
  description: Content;
  chunks: string[];
}

export interface Run {
  name: string;
  finished: boolean;
  model: { name: string; architecture: string; served: string | null };
  corpora: { files: string[]; documents: number }[];
  tables: string[];
  statistics: HeadStatistic[];
}

export interface MarkedText {
  text: string;
  mark: "attending" | "attended" | "both" | null;
}

export interface Exemplar {
  score: number;
  attending: string;
  attended: string;
  source: string;
  runs: MarkedText[];
}

export interface Exemplars {
  measure: string;
  computed: boolean; // found now, among `documents` texts; else the run counted them
  documents: number;
  exemplars: Exemplar[];
}

/** The server said no, in one sentence. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    sentence: string,
    readonly retryAfter: number | null, // seconds
  ) {
    super(sentence);
  }

  get isBusy(): boolean {
    return this.status === 429 || this.status === 503;
  }
}

/** Nobody answers at the server's address. */
export class Gone extends Error {}

export function models(signal: AbortSignal): Promise<Model[]> {
  return ask("/api/models", { signal });
}

export function read(request: ReadRequest, signal: AbortSignal): Promise<ReadAnswer> {
  return ask("/api/read", {
    signal,
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
  });
}

export function run(signal: AbortSignal): Promise<Run> {
  return ask("/api/run", { signal });
}

export function report(signal: AbortSignal): Promise<Report> {
  return ask("/api/run/report", { signal });
}

/** `group` is "encoder self". */
export function exemplars(group: string, layer: number, head: number, measure: string, signal: AbortSignal): Promise<Exemplars> {
  const [stack, kind] = group.split(" ");
  return ask(`/api/heads/${stack}/${kind}/${layer}/${head}/exemplars?measure=${encodeURIComponent(measure)}`, { signal });
}

async function ask<T>(path: string, options: RequestInit): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Gone("The server does not answer: see whether headscope serve is still running.");
  }
  if (!answer.ok) throw new Refusal(answer.status, await sentenceOf(answer), secondsOf(answer.headers.get("Retry-After")));
  return (await answer.json()) as T;
}

async function sentenceOf(answer: Response): Promise<string> {
  try {
    const { error } = (await answer.json()) as { error?: unknown };
    if (typeof error === "string" && error) return error;
  } catch {
    // Something between us and the server answered.
  }
  return `The server answered ${answer.status} and did not say why.`;
}

function secondsOf(header: string | null): number | null {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}
