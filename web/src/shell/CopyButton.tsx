// A link to just what the reader sees.
import { useState } from "preact/hooks";

export function CopyButton({ fragment }: { fragment: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(`${location.href.split("#")[0]}#${fragment}`);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" name="copy" class="quiet" title="Copy a link to just what you see" onClick={() => void copy()}>
      {copied ? "copied" : "copy link"}
    </button>
  );
}

/** The clipboard of a file or of a frame in a notebook is not open to scripts; selecting and copying is. */
async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}
