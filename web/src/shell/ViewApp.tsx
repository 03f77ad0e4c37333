// The page that `headscope view` writes: one content, four views.
import type { Chunks } from "../data/chunks";
import { LogitParts } from "../logits/LogitParts";
import type { ViewPage } from "../schema";
import { useAddress } from "./address";
import { useDark } from "./hooks";
import { ReadBy, Title } from "./Title";
import { Viewer } from "./Viewer";

export function ViewApp({ page, chunks }: { page: ViewPage; chunks: Chunks }) {
  const [state, change] = useAddress(page.state);
  const dark = useDark(state.theme);
  return (
    <div class="page">
      <header class="title">
        <h1 dir="auto">
          <Title content={page} />
        </h1>
        <ReadBy content={page} />
        <p class="brand">headscope</p>
      </header>
      <main>
        {page.logits && <LogitParts logits={page.logits} state={state} change={change} dark={dark} />}
        <Viewer content={page} chunks={chunks} state={state} change={change} dark={dark} />
      </main>
    </div>
  );
}
