/**
 * Written by local/assets/fonts.ts: the fonts of receipts under the names their content gives them. The first three are fonts, the rest
 * are indexes that say which slice of a script's font has which characters.
 */
export const FONT_ASSETS = {
  regular: '/assets/fonts/noto-sans-regular-1bdd3534.ttf',
  bold: '/assets/fonts/noto-sans-bold-30cf077a.ttf',
  mono: '/assets/fonts/noto-sans-mono-67f09cd0.ttf',
  hebrew: '/assets/fonts/noto-sans-hebrew-31eb7685.json',
  arabic: '/assets/fonts/noto-sans-arabic-fb3d1a78.json',
  armenian: '/assets/fonts/noto-sans-armenian-96b89eb1.json',
  georgian: '/assets/fonts/noto-sans-georgian-6aa6a948.json',
  japanese: '/assets/fonts/noto-sans-jp-3f5b756f.json',
  simplifiedChinese: '/assets/fonts/noto-sans-sc-e5f2092f.json',
  traditionalChinese: '/assets/fonts/noto-sans-tc-cc4af70e.json',
  korean: '/assets/fonts/noto-sans-kr-af48eb7c.json',
  emoji: '/assets/fonts/noto-emoji-34e26a6f.json',
} as const;
