// A link to just what the reader sees.
import { useState } from "preact/hooks";
import { copyText } from "../shell/Toolbar";
import { type ReportState, format } from "./address";

export function CopyButton({ state }: { state: ReportState }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(`${location.href.split("#")[0]}#${format(state)}`);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" name="copy" class="quiet" title="Copy a link to just what you see" onClick={() => void copy()}>
      {copied ? "copied" : "copy link"}
    </button>
  );
}
