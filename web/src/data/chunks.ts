// Chunks of compressed bytes, unpacked when they are first needed.
import type { Place } from "../schema";

/** Where base64 text of a chunk comes from: elements of the page, or an answer of the server. */
export type ChunkSource = (chunk: number) => string;

export class Chunks {
  private readonly unpacked = new Map<number, Promise<ArrayBuffer>>();

  constructor(private readonly source: ChunkSource) {}

  load(chunk: number): Promise<ArrayBuffer> {
    let found = this.unpacked.get(chunk);
    if (!found) {
      found = inflate(bytesOf(this.source(chunk)));
      this.unpacked.set(chunk, found);
    }
    return found;
  }
}

/** The chunks that stand in the page itself. */
export function chunksOfPage(): Chunks {
  return new Chunks((chunk) => document.getElementById(`chunk-${chunk}`)?.textContent ?? "");
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const direct = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (direct) return direct(base64); // newer browsers: many times faster
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Written at once and not as the stream of a Blob, which comes in many small parts through another process. */
async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  const [unpacked] = await Promise.all([new Response(stream.readable).arrayBuffer(), written]);
  return unpacked;
}

const TYPES = { f4: Float32Array, u1: Uint8Array, i1: Int8Array };

/** The array at a place of an unpacked chunk; nothing is copied. */
export function arrayAt(buffer: ArrayBuffer, place: Place): Float32Array | Uint8Array | Int8Array {
  const length = place.shape.reduce((product, size) => product * size, 1);
  return new TYPES[place.type](buffer, place.offset, length);
}
