import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePng } from '#pdf/png.ts';
import { chunkOf, type PngHeader, pngOf } from '../../../local/bench/png.ts';

const MAX = 1_000_000;
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const FORMATS: [colourType: number, depth: number][] = [
  [0, 1],
  [0, 2],
  [0, 4],
  [0, 8],
  [0, 16],
  [2, 8],
  [2, 16],
  [3, 1],
  [3, 2],
  [3, 4],
  [3, 8],
  [4, 8],
  [4, 16],
  [6, 8],
  [6, 16],
];
/** Interlacing pass of each pixel in an 8×8 block (ISO/IEC 15948, 8.2). */
const PASS_OF = ['16462646', '77777777', '56565656', '77777777', '36463646', '77777777', '56565656', '77777777'];

type Samples = (x: number, y: number, channel: number) => number;
const samplesOf = (seed: number, { depth, colourType }: PngHeader, palette: number): Samples => {
  const range = colourType === 3 ? palette : 2 ** depth;
  return (x, y, channel) => ((x * 7919 + y * 104_729 + channel * 1_299_709 + seed * 31) ^ (x * y)) % range;
};

function packed(row: number[], depth: number): number[] {
  const bits = row.flatMap((sample) => Array.from({ length: depth }, (_, bit) => (sample >> (depth - 1 - bit)) & 1));
  return Array.from({ length: Math.ceil(bits.length / 8) }, (_, byte) =>
    Array.from({ length: 8 }, (_, bit) => bits[byte * 8 + bit] ?? 0).reduce((sum, bit) => sum * 2 + bit, 0),
  );
}

/** Filters a row (ISO/IEC 15948, 9.2). */
function filtered(filter: number, row: number[], above: number[], step: number): number[] {
  return row.map((byte, index) => {
    const [a, b, c] = [row[index - step] ?? 0, above[index] ?? 0, index < step ? 0 : (above[index - step] ?? 0)];
    const p = a + b - c;
    const nearest = [a, b, c].reduce((best, value) => (Math.abs(p - value) < Math.abs(p - best) ? value : best), a);
    return (byte - [0, a, b, Math.floor((a + b) / 2), nearest][filter]!) & 0xff;
  });
}

/** Builds the rows of a file pass by pass, with every filter in turn. */
function rowsOf(header: PngHeader, samples: Samples): number[] {
  const { width, height, depth, colourType, isInterlaced } = header;
  const channels = CHANNELS[colourType]!;
  const rows: number[] = [];
  for (const pass of isInterlaced ? '1234567' : '1') {
    let above: number[] = [];
    for (let y = 0; y < height; y++) {
      const columns = Array.from({ length: width }, (_, x) => x).filter((x) => !isInterlaced || PASS_OF[y % 8]![x % 8] === pass);
      if (columns.length === 0) continue;
      const row = packed(
        columns.flatMap((x) => Array.from({ length: channels }, (_, channel) => samples(x, y, channel))),
        depth,
      );
      const filter = (rows.length + y) % 5;
      rows.push(filter, ...filtered(filter, row, above, Math.max(1, (channels * depth) >> 3)));
      above = row;
    }
  }
  return rows;
}

/** Expected pixel by the format: grey fills all three channels, no alpha is opaque, and 16 bits are rounded to 8. */
function pixelOf({ depth, colourType }: PngHeader, samples: Samples, x: number, y: number): number[] {
  const scaled = (channel: number) => Math.round((samples(x, y, channel) * 255) / (2 ** depth - 1));
  if (colourType === 3) return [samples(x, y, 0), 255 - samples(x, y, 0), 7, samples(x, y, 0) === 1 ? 40 : 255];
  if (colourType === 0) return [scaled(0), scaled(0), scaled(0), 255];
  if (colourType === 4) return [scaled(0), scaled(0), scaled(0), scaled(1)];
  return [scaled(0), scaled(1), scaled(2), colourType === 6 ? scaled(3) : 255];
}

describe('decodePng', () => {
  it.each(FORMATS.flatMap(([colourType, depth]) => [false, true].map((isInterlaced) => ({ colourType, depth, isInterlaced }))))(
    'each pixel is decoded: colour type $colourType, $depth bits, interlaced $isInterlaced',
    async (format) => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 19 }), fc.integer({ min: 1, max: 19 }), fc.nat(1000), async (width, height, seed) => {
          const header = { ...format, width, height };
          const entries = 2 ** Math.min(format.depth, 8);
          const samples = samplesOf(seed, header, entries);
          const palette = Array.from({ length: entries }, (_, entry) => [entry, 255 - entry, 7]).flat();
          const chunks = format.colourType === 3 ? [...chunkOf('PLTE', palette), ...chunkOf('tRNS', [255, 40])] : [];
          const expected = Array.from({ length: width * height }, (_, at) =>
            pixelOf(header, samples, at % width, Math.floor(at / width)),
          ).flat();
          const png = await decodePng(pngOf(header, rowsOf(header, samples), chunks), MAX);
          expect(png && { ...png, rgba: [...png.rgba] }).toEqual({ width, height, rgba: expected });
        }),
        { numRuns: 8 },
      );
    },
  );

  it('the colour named by tRNS is transparent', async () => {
    const rows = [0, 10, 20, 30, 40, 50, 60];
    const png = await decodePng(pngOf({ width: 2, height: 1, depth: 8, colourType: 2 }, rows, chunkOf('tRNS', [0, 40, 0, 50, 0, 60])), MAX);
    expect([...png!.rgba]).toEqual([10, 20, 30, 255, 40, 50, 60, 0]);
  });
});

describe('decodePng, refused files', () => {
  const header = { width: 4, height: 1, depth: 8, colourType: 0 };
  const good = pngOf(header, [0, 1, 2, 3, 4]);
  const changed = (at: number, ...bytes: number[]) => good.with(at, bytes[0]!);
  const deflated = async (bytes: Uint8Array<ArrayBuffer>) =>
    new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))).arrayBuffer());

  it.each([
    ['nothing', new Uint8Array()],
    ['a signature alone', good.slice(0, 8)],
    ['a header alone', good.slice(0, 33)],
    ['one that is cut off', good.slice(0, -20)],
    ['no pixel', pngOf({ ...header, width: 0 }, [0])],
    ['more pixels than allowed', pngOf({ ...header, width: 1001, height: 1000 }, [0])],
    ['as many as a header can say', pngOf({ ...header, width: 0xffffffff, height: 0xffffffff }, [0])],
    ['less than its rows', pngOf(header, [0, 1, 2])],
    ['more than its rows', pngOf(header, [0, 1, 2, 3, 4, 5])],
    ['a filter there is not', pngOf(header, [9, 1, 2, 3, 4])],
    ['a depth there is not', changed(24, 7)],
    ['a colour type there is not', changed(25, 5)],
    ['a compression there is not', changed(26, 1)],
    ['an interlacing there is not', changed(28, 2)],
    ['data that cannot be unpacked', changed(45, 0xff)],
  ])('decodePng returns null for %s', async (_what, bytes) => {
    expect(await decodePng(bytes, MAX)).toBeNull();
  });

  it('a decompression bomb is refused', async () => {
    const bomb = await deflated(new Uint8Array(64 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(100 * 1024);
    const file = new Uint8Array([...good.slice(0, 33), ...chunkOf('IDAT', [...bomb]), ...chunkOf('IEND', [])]);
    expect(await decodePng(file, MAX)).toBeNull();
  });

  it('arbitrary bytes never throw', async () => {
    const noise = fc
      .tuple(fc.uint8Array({ maxLength: 200 }), fc.nat(80))
      .map(([bytes, at]) => new Uint8Array([...good.slice(0, at), ...bytes]));
    await fc.assert(
      fc.asyncProperty(noise, async (bytes) => {
        const png = await decodePng(bytes, MAX);
        expect(png === null || png.rgba.length === png.width * png.height * 4).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
