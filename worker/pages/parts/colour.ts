/** Colours derived from a merchant's accent, with contrast that makes every text readable (WCAG 2.2, 1.4.3 and 1.4.11). */
export interface Palette {
  accent: string;
  onAccent: string;
  accentText: string;
  accentSoft: string;
  /** Border of a button, visible even if the accent is close to the surface's colour. */
  accentEdge: string;
}

type Rgb = readonly [number, number, number];

const DEFAULT_ACCENT = '#3d4fd7';
const TEXT_CONTRAST = 4.5;
const EDGE_CONTRAST = 3;
const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];
/** Surface colours with the least contrast, shared with style.ts. */
export const SURFACES = { light: '#f5f6f8', dark: '#1d2129' } as const;

export const parseHex = (hex: string): Rgb | null => {
  if (!/^#[0-9a-fA-F]{6}$/.test(hex)) return null;
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
};

const toHex = (colour: Rgb): string => `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: Rgb, b: Rgb): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const mix = (from: Rgb, to: Rgb, share: number): Rgb => from.map((part, index) => part + (to[index]! - part) * share) as unknown as Rgb;
const rounded = (colour: Rgb): Rgb => colour.map(Math.round) as unknown as Rgb;

/** Returns the colour, or the nearest one towards `to` with the contrast `least` against every colour of `against`. */
function shiftUntilReadable(colour: Rgb, to: Rgb, against: Rgb[], least: number): Rgb {
  for (let share = 0; share < 1; share += 0.02) {
    const candidate = rounded(mix(colour, to, share));
    if (against.every((surface) => contrast(candidate, surface) >= least)) return candidate;
  }
  return to;
}

export function paletteOf(accentHex: string | undefined, scheme: keyof typeof SURFACES): Palette {
  const accent = parseHex(accentHex ?? '') ?? parseHex(DEFAULT_ACCENT)!;
  const surface = parseHex(SURFACES[scheme])!;
  const away = scheme === 'light' ? BLACK : WHITE;
  const card = scheme === 'light' ? WHITE : surface;
  const soft = rounded(mix(card, accent, scheme === 'light' ? 0.08 : 0.14));
  const onAccent = contrast(accent, WHITE) >= contrast(accent, BLACK) ? WHITE : BLACK;
  return {
    accent: toHex(accent),
    // Black or white always has a contrast of at least 4.58:1.
    onAccent: toHex(onAccent),
    accentText: toHex(shiftUntilReadable(accent, away, [surface, card, soft], TEXT_CONTRAST)),
    accentSoft: toHex(soft),
    accentEdge: toHex(shiftUntilReadable(accent, away, [surface, card], EDGE_CONTRAST)),
  };
}
