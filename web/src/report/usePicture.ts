// What a card draws of a head.
import type { Head, Picture } from "../schema";
import { useUnpacked } from "./unpack";

/** Null while it is unpacked, and where there is nothing to draw. */
export function usePicture(head: Head | undefined): Picture | null {
  const ofLayer = useUnpacked<Record<string, Picture>>(null, head?.picture ? undefined : head?.picture_chunk);
  return head?.picture ?? (head && ofLayer?.[head.name]) ?? null;
}
