// The page that `headscope view` writes: one content, four views.
import type { Chunks } from "../data/chunks";
import type { ViewPage } from "../schema";
import { useAddress } from "./address";
import { useDark } from "./hooks";
import { Viewer } from "./Viewer";

export function ViewApp({ page, chunks }: { page: ViewPage; chunks: Chunks }) {
  const [state, change] = useAddress(page.state);
  const dark = useDark(state.theme);
  return (
    <div class="page">
      <header class="title">
        <h1 dir="auto">{page.title}</h1>
        {page.model && (
          <p class="read-by">
            read by <b>{page.model}</b>
          </p>
        )}
        <p class="brand">headscope</p>
      </header>
      <main>
        <Viewer content={page} chunks={chunks} state={state} change={change} dark={dark} />
      </main>
    </div>
  );
}
