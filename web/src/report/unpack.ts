// Rows of tables and texts of figures, which lie compressed in the page until they are looked at.
import { useEffect, useState } from "preact/hooks";
import { useReport } from "./shown";

/** What is there at once, or what a chunk holds as JSON; null until it is unpacked. */
export function useUnpacked<T>(there: T | null, chunk: number | undefined): T | null {
  const { chunks } = useReport();
  const [loaded, setLoaded] = useState<{ chunk: number; value: T } | null>(null);
  useEffect(() => {
    if (there !== null || chunk === undefined) return undefined;
    let wanted = true;
    void chunks.load(chunk).then((buffer) => {
      if (wanted) setLoaded({ chunk, value: JSON.parse(new TextDecoder().decode(buffer)) as T });
    });
    return () => {
      wanted = false;
    };
  }, [there, chunk, chunks]);
  return there ?? (loaded && loaded.chunk === chunk ? loaded.value : null);
}

/** Hand a text to the browser as a file to save. */
export function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
