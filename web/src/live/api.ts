// The server's HTTP interface: all that the live page asks of it.
import type { ExemplarsAnswer, ModelInfo, Predicted, PredictRequest, ReadAnswer, ReadRequest, Report, RunAnswer } from "../schema";

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

export function models(signal: AbortSignal): Promise<ModelInfo[]> {
  return ask("/api/models", { signal });
}

export function read(request: ReadRequest, signal: AbortSignal): Promise<ReadAnswer> {
  return post("/api/read", request, signal);
}

export function predict(request: PredictRequest, signal: AbortSignal): Promise<Predicted> {
  return post("/api/predict", request, signal);
}

export function run(signal: AbortSignal): Promise<RunAnswer> {
  return ask("/api/run", { signal });
}

export function report(signal: AbortSignal): Promise<Report> {
  return ask("/api/run/report", { signal });
}

/** `group` is "encoder self". */
export function exemplars(group: string, layer: number, head: number, measure: string, signal: AbortSignal): Promise<ExemplarsAnswer> {
  const [stack, kind] = group.split(" ");
  return ask(`/api/heads/${stack}/${kind}/${layer}/${head}/exemplars?measure=${encodeURIComponent(measure)}`, { signal });
}

function post<T>(path: string, request: object, signal: AbortSignal): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return ask(path, { signal, method: "POST", headers, body: JSON.stringify(request) });
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
