import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { create, type Font } from 'fontkit';
import subsetFont from 'subset-font';

/**
 * Fonts of receipts as static assets: Latin, Greek, Cyrillic and Vietnamese in two weights, fixed width for ids, and subsets for other
 * scripts.
 */
const ROOT = join(import.meta.dirname, '../..');
const NAMES_FILE = join(ROOT, 'worker/pdf/text/font-assets.ts');
const RECORD_FILE = join(ROOT, 'dist/fonts.json');
const NOTO = '@expo-google-fonts/noto-sans';
const MONO = '@fontsource-variable/noto-sans-mono';
const SUBSETTER = 'subset-font';

const BASE_RANGES =
  'U+20-7E,U+A0-52F,U+1D00-1FFF,U+2010-2027,U+2030-205E,U+2070-218F,U+2212,U+2C60-2C7F,U+2DE0-2DFF,U+A640-A69F,U+A720-A7FF,U+AB30-AB6F,U+FB00-FB06,U+FE20-FE2F,U+FFFD';
/** Layout features that position combining marks. No others are used. */
const MARK_FEATURES = ['ccmp', 'mark', 'mkmk'];
const UNUSED_TABLES = ['name', 'STAT', 'DSIG', 'MATH', 'BASE', 'gasp'];
const UNUSED_LAYOUT = ['GSUB', 'GPOS', 'GDEF', 'VORG', 'vhea', 'vmtx'];

const FAMILIES = {
  hebrew: { name: '@fontsource-variable/noto-sans-hebrew', slices: /^hebrew$/ },
  arabic: { name: '@fontsource-variable/noto-sans-arabic', slices: /^arabic$/ },
  armenian: { name: '@fontsource-variable/noto-sans-armenian', slices: /^armenian$/ },
  georgian: { name: '@fontsource-variable/noto-sans-georgian', slices: /^georgian$/ },
  japanese: { name: '@fontsource-variable/noto-sans-jp', slices: /^\[\d+\]$/ },
  simplifiedChinese: { name: '@fontsource-variable/noto-sans-sc', slices: /^\[\d+\]$/ },
  traditionalChinese: { name: '@fontsource-variable/noto-sans-tc', slices: /^\[\d+\]$/ },
  korean: { name: '@fontsource-variable/noto-sans-kr', slices: /^\[\d+\]$/ },
  emoji: { name: '@fontsource-variable/noto-emoji', slices: /^\[\d+\]$/ },
} as const;
type Family = keyof typeof FAMILIES;

type Write = (path: string, content: string | Uint8Array) => void;
interface FontRecord {
  key: string;
  names: Record<string, string>;
  paths: string[];
}

const inPackage = (name: string, file: string): string => join(ROOT, 'node_modules', name, file);
const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

function codePointsOf(ranges: string): number[] {
  return ranges.split(',').flatMap((range) => {
    const [from = 0, to = from] = range
      .trim()
      .replace('U+', '')
      .split('-')
      .map((text) => Number.parseInt(text, 16));
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

function rangesOf(codePoints: number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const codePoint of codePoints.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && codePoint === last[1] + 1) last[1] = codePoint;
    else ranges.push([codePoint, codePoint]);
  }
  return ranges.map(([from, to]) => (from === to ? from.toString(16) : `${from.toString(16)}-${to.toString(16)}`)).join(' ');
}

const textOf = (codePoints: number[]): string => codePoints.map((codePoint) => String.fromCodePoint(codePoint)).join('');
function charactersOf(font: Uint8Array): number[] {
  const parsed = create(font as Buffer) as Font & { cmap: { tables: unknown[] } };
  return parsed.cmap.tables.length === 0 ? [] : parsed.characterSet;
}

function assetOf(name: string, extension: 'ttf' | 'json' | 'txt', content: string | Uint8Array) {
  return { path: `/assets/fonts/${name}-${sha256(content).slice(0, 8)}.${extension}`, content };
}

async function baseFont(name: string, source: string, ranges: string, fontFeatures: string[], variationAxes?: Record<string, number>) {
  const font = await subsetFont(readFileSync(source), textOf(codePointsOf(ranges)), {
    targetFormat: 'sfnt',
    noHinting: true,
    keepFeatures: fontFeatures,
    dropTables: fontFeatures.length > 0 ? UNUSED_TABLES : [...UNUSED_TABLES, ...UNUSED_LAYOUT],
    ...(variationAxes ? { variationAxes } : {}),
  });
  return assetOf(name, 'ttf', font);
}

async function family(key: Family, inBase: ReadonlySet<number>) {
  const { name, slices } = FAMILIES[key];
  const ranges = JSON.parse(readFileSync(inPackage(name, 'unicode.json'), 'utf8')) as Record<string, string>;
  const short = name.split('/')[1]!;
  const assets: { path: string; content: Uint8Array; source: string }[] = [];
  const index: [path: string, ranges: string][] = [];
  for (const [slice, range] of Object.entries(ranges)) {
    if (!slices.test(slice)) continue;
    const label = slice.replace(/[[\]]/g, '');
    const wanted = codePointsOf(range).filter((codePoint) => !inBase.has(codePoint));
    const source = inPackage(name, `files/${short}-${label}-wght-normal.woff2`);
    const font = await subsetFont(readFileSync(source), textOf(wanted), {
      targetFormat: 'sfnt',
      noHinting: true,
      dropTables: [...UNUSED_TABLES, ...UNUSED_LAYOUT],
      variationAxes: { wght: 400 },
    });
    const characters = charactersOf(font);
    // Some slices contain only characters of the base font.
    if (characters.length === 0) continue;
    const asset = assetOf(`${short}-${label}`, 'ttf', font);
    assets.push({ path: asset.path, content: font, source });
    index.push([asset.path, rangesOf(characters)]);
  }
  if (index.length === 0) throw new Error(`${name} has no slice that matches ${slices}.`);
  return { name: short, source: assets[0]!.source, assets, index: assetOf(short, 'json', JSON.stringify(index)) };
}

/** Builds the licence file: the licence requires its text and each font's copyright in every copy. */
function licence(fonts: { name: string; source: string }[]) {
  const text = readFileSync(inPackage(NOTO, 'LICENSE_FONT'), 'utf8');
  const notices = fonts.map(({ name, source }) => `${name}: ${(create(readFileSync(source)) as Font).copyright}`);
  return assetOf('OFL', 'txt', `noto-sans: ${text.trimEnd()}\n\nThe same licence holds for:\n\n${notices.join('\n')}\n`);
}

async function makeFonts(key: string, write: Write): Promise<FontRecord> {
  const inNoto = (weight: string) => inPackage(NOTO, `${weight}/NotoSans_${weight}.ttf`);
  const regular = await baseFont('noto-sans-regular', inNoto('400Regular'), BASE_RANGES, MARK_FEATURES);
  const bold = await baseFont('noto-sans-bold', inNoto('600SemiBold'), BASE_RANGES, MARK_FEATURES);
  const monoSource = inPackage(MONO, 'files/noto-sans-mono-latin-wght-normal.woff2');
  const mono = await baseFont('noto-sans-mono', monoSource, 'U+20-7E', [], { wght: 400 });
  const inBase = new Set(charactersOf(regular.content as Uint8Array));
  const assets: { path: string; content: string | Uint8Array }[] = [regular, bold, mono];
  const names: Record<string, string> = { regular: regular.path, bold: bold.path, mono: mono.path };
  const fonts = [{ name: 'noto-sans-mono', source: monoSource }];
  for (const key of Object.keys(FAMILIES) as Family[]) {
    const { name, source, assets: slices, index } = await family(key, inBase);
    assets.push(...slices, index);
    fonts.push({ name, source });
    names[key] = index.path;
  }
  assets.push(licence(fonts));
  for (const { path, content } of assets) write(path, content);
  return { key, names, paths: assets.map(({ path }) => path) };
}

/** Returns the cache key of all inputs: unchanged inputs give unchanged fonts. */
function keyOf(): string {
  const packages = [NOTO, MONO, SUBSETTER, ...Object.values(FAMILIES).map(({ name }) => name)];
  const versions = packages.map((name) => `${name}@${JSON.parse(readFileSync(inPackage(name, 'package.json'), 'utf8')).version}`);
  return sha256([...versions, readFileSync(import.meta.filename, 'utf8')].join('\n'));
}

/** Writes the fonts and their names for the worker. Files made from the same sources are reused, because subsetting takes seconds. */
export async function writeFonts(write: Write, isUpToDate: (path: string) => boolean): Promise<void> {
  const key = keyOf();
  const before = existsSync(RECORD_FILE) ? (JSON.parse(readFileSync(RECORD_FILE, 'utf8')) as FontRecord) : null;
  const isCurrent = before?.key === key && before.paths.filter((path) => !isUpToDate(path)).length === 0;
  const record = isCurrent ? before : await makeFonts(key, write);
  mkdirSync(dirname(RECORD_FILE), { recursive: true });
  if (!isCurrent) writeFileSync(RECORD_FILE, JSON.stringify(record));
  const names = Object.entries(record.names).map(([name, path]) => `  ${name}: '${path}',\n`);
  const source = readFileSync(NAMES_FILE, 'utf8');
  const named = source.replace(/(FONT_ASSETS = \{\n)[\s\S]*?(\} as const)/, `$1${names.join('')}$2`);
  if (named !== source) writeFileSync(NAMES_FILE, named);
}
