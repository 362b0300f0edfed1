export interface Pixels {
  width: number;
  height: number;
  rgba: Uint8Array;
}

/** Chunks of a PNG with a valid header (ISO/IEC 15948). */
interface Png {
  width: number;
  height: number;
  depth: number;
  colourType: number;
  isInterlaced: boolean;
  palette: Uint8Array;
  transparency: Uint8Array;
  deflated: Uint8Array<ArrayBuffer>[];
}

interface Pass {
  x: number;
  y: number;
  dx: number;
  dy: number;
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const [GREY, RGB, PALETTE, GREY_ALPHA, RGBA] = [0, 2, 3, 4, 6];
const CHANNELS: Readonly<Record<number, number>> = { [GREY]: 1, [RGB]: 3, [PALETTE]: 1, [GREY_ALPHA]: 2, [RGBA]: 4 };
const DEPTHS: Readonly<Record<number, number[]>> = {
  [GREY]: [1, 2, 4, 8, 16],
  [RGB]: [8, 16],
  [PALETTE]: [1, 2, 4, 8],
  [GREY_ALPHA]: [8, 16],
  [RGBA]: [8, 16],
};
const SINGLE_PASS: Pass[] = [{ x: 0, y: 0, dx: 1, dy: 1 }];
const ADAM7: Pass[] = [
  { x: 0, y: 0, dx: 8, dy: 8 },
  { x: 4, y: 0, dx: 8, dy: 8 },
  { x: 0, y: 4, dx: 4, dy: 8 },
  { x: 2, y: 0, dx: 4, dy: 4 },
  { x: 0, y: 2, dx: 2, dy: 4 },
  { x: 1, y: 0, dx: 2, dy: 2 },
  { x: 0, y: 1, dx: 1, dy: 2 },
];

export const isPng = (bytes: Uint8Array): boolean => SIGNATURE.every((byte, index) => bytes[index] === byte);

/**
 * Decodes a PNG of at most `pixelsMax` pixels. Returns null if larger or malformed. Decompression stops at the size that the header
 * implies, so a small file cannot expand to gigabytes.
 */
export async function decodePng(bytes: Uint8Array, pixelsMax: number): Promise<Pixels | null> {
  const png = readChunks(bytes);
  if (!png || png.width * png.height === 0 || png.width * png.height > pixelsMax) return null;
  const passes = (png.isInterlaced ? ADAM7 : SINGLE_PASS).map((pass) => ({ ...pass, ...sizeOf(png, pass) }));
  const rows = await inflate(
    png.deflated,
    passes.reduce((sum, { count, bytesPerRow }) => sum + count * (1 + bytesPerRow), 0),
  );
  if (!rows) return null;
  const rgba = new Uint8Array(png.width * png.height * 4);
  const paint = painter(png, rgba);
  let at = 0;
  for (const { x, y, dx, dy, width, count, bytesPerRow } of passes) {
    let above: Uint8Array = new Uint8Array(bytesPerRow);
    for (let row = 0; row < count; row++, at += 1 + bytesPerRow) {
      const line = rows.subarray(at + 1, at + 1 + bytesPerRow);
      if (!unfilter(rows[at]!, line, above, Math.max(1, (CHANNELS[png.colourType]! * png.depth) >> 3))) return null;
      paint(line, width, ((y + row * dy) * png.width + x) * 4, dx * 4);
      above = line;
    }
  }
  return { width: png.width, height: png.height, rgba };
}

function readChunks(bytes: Uint8Array): Png | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isPng(bytes) || bytes.length < 33) return null;
  const [depth = 0, colourType = 0, compression, filter, interlace = 0] = bytes.subarray(24, 29);
  if (!DEPTHS[colourType]?.includes(depth) || compression !== 0 || filter !== 0 || interlace > 1) return null;
  const size = { width: view.getUint32(16), height: view.getUint32(20) };
  const png: Png = {
    ...size,
    depth,
    colourType,
    isInterlaced: interlace === 1,
    palette: new Uint8Array(),
    transparency: new Uint8Array(),
    deflated: [],
  };
  for (let at = 33; at + 12 <= bytes.length; ) {
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const data = bytes.slice(at + 8, at + 8 + length);
    if (type === 'PLTE') png.palette = data;
    if (type === 'tRNS') png.transparency = data;
    if (type === 'IDAT') png.deflated.push(data);
    if (type === 'IEND') break;
    at += 12 + length;
  }
  return png;
}

function sizeOf({ width, height, depth, colourType }: Png, pass: Pass): { width: number; count: number; bytesPerRow: number } {
  const columns = Math.max(0, Math.ceil((width - pass.x) / pass.dx));
  const rows = Math.max(0, Math.ceil((height - pass.y) / pass.dy));
  const bytesPerRow = Math.ceil((columns * CHANNELS[colourType]! * depth) / 8);
  return { width: columns, count: columns === 0 ? 0 : rows, bytesPerRow };
}

/** Inflates to exactly `length` bytes. Returns null as soon as there are more, or if the data is corrupt. */
async function inflate(parts: Uint8Array<ArrayBuffer>[], length: number): Promise<Uint8Array | null> {
  const unpacked = new Uint8Array(length);
  const reader = new Blob(parts).stream().pipeThrough(new DecompressionStream('deflate')).getReader();
  let at = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (at + part.value.length > length) {
        await reader.cancel();
        return null;
      }
      unpacked.set(part.value, at);
      at += part.value.length;
    }
  } catch {
    return null;
  }
  return at === length ? unpacked : null;
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const byLeft = Math.abs(estimate - left);
  const byUp = Math.abs(estimate - up);
  const byCorner = Math.abs(estimate - corner);
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}

/** Reverses a row's filter. Returns false for an unknown filter. `step`: bytes per pixel. */
function unfilter(filter: number, row: Uint8Array, above: Uint8Array, step: number): boolean {
  const { length } = row;
  if (filter === 1) for (let at = step; at < length; at++) row[at] = row[at]! + row[at - step]!;
  if (filter === 2) for (let at = 0; at < length; at++) row[at] = row[at]! + above[at]!;
  if (filter === 3) for (let at = 0; at < length; at++) row[at] = row[at]! + (((row[at - step] ?? 0) + above[at]!) >> 1);
  if (filter === 4) for (let at = 0; at < length; at++) row[at] = row[at]! + paeth(row[at - step] ?? 0, above[at]!, above[at - step] ?? 0);
  return filter <= 4;
}

type Paint = (row: Uint8Array, columns: number, at: number, stride: number) => void;

function painter(png: Png, rgba: Uint8Array): Paint {
  const pixel = pixelOf(png, rgba);
  const isRgba = png.depth === 8 && png.colourType === RGBA;
  return (row, columns, at, stride) => {
    // Fast path for the most common format.
    if (isRgba && stride === 4) rgba.set(row, at);
    else for (let column = 0; column < columns; column++) pixel(row, column, at + column * stride);
  };
}

function pixelOf({ depth, colourType, palette, transparency }: Png, rgba: Uint8Array) {
  const channels = CHANNELS[colourType]!;
  const max = 2 ** depth - 1;
  const sample = (row: Uint8Array, index: number): number => {
    if (depth === 8) return row[index]!;
    if (depth === 16) return row[index * 2]! * 256 + row[index * 2 + 1]!;
    const bit = index * depth;
    return (row[bit >> 3]! >> (8 - depth - (bit & 7))) & max;
  };
  const scaled = (value: number): number => (depth === 8 ? value : Math.round((value * 255) / max));
  // Colour that is fully transparent, two bytes per channel.
  const clear =
    colourType <= RGB && transparency.length === channels * 2
      ? Array.from({ length: channels }, (_, index) => transparency[index * 2]! * 256 + transparency[index * 2 + 1]!)
      : null;
  return (row: Uint8Array, column: number, at: number): void => {
    if (colourType === PALETTE) {
      const entry = sample(row, column);
      rgba.set(palette.subarray(entry * 3, entry * 3 + 3), at);
      rgba[at + 3] = transparency[entry] ?? 255;
      return;
    }
    const from = column * channels;
    const isGrey = colourType === GREY || colourType === GREY_ALPHA;
    for (let channel = 0; channel < 3; channel++) rgba[at + channel] = scaled(sample(row, from + (isGrey ? 0 : channel)));
    const hasAlpha = colourType === GREY_ALPHA || colourType === RGBA;
    const isClear = clear?.every((value, channel) => value === sample(row, from + channel)) ?? false;
    rgba[at + 3] = hasAlpha ? scaled(sample(row, from + channels - 1)) : isClear ? 0 : 255;
  };
}
