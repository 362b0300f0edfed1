/** Writes uncompressed PNG files for generated logos. (ISO/IEC 15948, RFC 1950) */
export interface PngHeader {
  width: number;
  height: number;
  depth: number;
  colourType: number;
  isInterlaced?: boolean;
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const STORED_MAX = 0xffff;
const bytesOf = (text: string): number[] => [...text].map((character) => character.charCodeAt(0));
const uint32 = (value: number): number[] => [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];

function crc32(bytes: number[]): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function adler32(bytes: ArrayLike<number>): number {
  let [a, b] = [1, 0];
  for (let index = 0; index < bytes.length; index++) {
    a = (a + bytes[index]!) % 65_521;
    b = (b + a) % 65_521;
  }
  return ((b << 16) | a) >>> 0;
}

export function chunkOf(type: string, data: number[]): number[] {
  const body = [...bytesOf(type), ...data];
  return [...uint32(data.length), ...body, ...uint32(crc32(body))];
}

function stored(bytes: ArrayLike<number>): number[] {
  const blocks: number[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += STORED_MAX) {
    const block = Array.from(bytes).slice(at, at + STORED_MAX);
    const [low, high] = [block.length & 0xff, block.length >> 8];
    blocks.push(at + STORED_MAX >= bytes.length ? 1 : 0, low, high, ~low & 0xff, ~high & 0xff);
    for (const byte of block) blocks.push(byte);
  }
  return [0x78, 0x01, ...blocks, ...uint32(adler32(bytes))];
}

export function pngOf(header: PngHeader, rows: ArrayLike<number>, chunks: number[] = []): Uint8Array {
  const { width, height, depth, colourType, isInterlaced } = header;
  const ihdr = [...uint32(width), ...uint32(height), depth, colourType, 0, 0, isInterlaced ? 1 : 0];
  return new Uint8Array([...SIGNATURE, ...chunkOf('IHDR', ihdr), ...chunks, ...chunkOf('IDAT', stored(rows)), ...chunkOf('IEND', [])]);
}
