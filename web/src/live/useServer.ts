// What there is at this server: its models, its run, the run's report.
import { useCallback, useEffect, useState } from "preact/hooks";
import type { LivePage, ModelInfo, Report, RunAnswer } from "../schema";
import { models, report, run } from "./api";

export interface Server {
  models: ModelInfo[];
  run: RunAnswer | null;
}

/** What is there so far, what went wrong, and a way to try again. */
export type Asking<T> = [T | null, Error | null, () => void];

export function useServer(page: LivePage): Asking<Server> {
  return useAsked<Server>(async (signal) => {
    const [found, offered] = await Promise.all([models(signal), page.run ? run(signal) : null]);
    return { models: found, run: offered };
  }, "server");
}

/** The run's report; nothing where there is no run. */
export function useServedReport(offered: RunAnswer | null): Asking<Report> {
  return useAsked<Report>(offered && report, offered?.name ?? "");
}

/** The answer to a question of which `key` says when it is another one. */
export function useAsked<T>(ask: ((signal: AbortSignal) => Promise<T>) | null, key: string): Asking<T> {
  const [found, setFound] = useState<{ key: string; answer: T | null; problem: Error | null } | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (!ask) return undefined;
    const controller = new AbortController();
    setFound(null);
    ask(controller.signal).then(
      (answer) => !controller.signal.aborted && setFound({ key, answer, problem: null }),
      (problem: Error) => !controller.signal.aborted && setFound({ key, answer: null, problem }),
    );
    return () => controller.abort();
  }, [key, attempt]);
  const again = useCallback(() => setAttempt((before) => before + 1), []);
  const own = found?.key === key ? found : null;
  return [own?.answer ?? null, own?.problem ?? null, again];
}
